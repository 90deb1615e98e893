export const codeOperations = [] as const;
