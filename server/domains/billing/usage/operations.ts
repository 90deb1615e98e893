export const usageOperations = [] as const;
