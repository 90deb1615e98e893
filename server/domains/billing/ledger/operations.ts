export const ledgerOperations = [] as const;
