export const stripeOperations = [] as const;
