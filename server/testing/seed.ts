/**
 * The seed of all random values in tests. It is the same in every run of the suite, so that a failure comes from a
 * change and can be repeated; BATON_TEST_SEED sets another.
 */
export const testSeed = Number(process.env.BATON_TEST_SEED || 1);
