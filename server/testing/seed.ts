/**
 * What all tests draw their random values from. It is the same in every run of the suite, so that a failure is that of a change and
 * can be repeated; BATON_TEST_SEED draws others.
 */
export const testSeed = Number(process.env.BATON_TEST_SEED || 1);
