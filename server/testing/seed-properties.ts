/** A setup file of vitest: properties draw their examples from the seed of all tests. */
import fc from 'fast-check';
import { testSeed } from './seed.ts';

fc.configureGlobal({ seed: testSeed });
