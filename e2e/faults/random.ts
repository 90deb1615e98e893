import { testSeed } from '../../server/testing/seed.ts';

/** How often each fault is injected: the N of `npm run faults -- --rounds N`, once in `npm test`. */
export const rounds = Number(process.env.BATON_TEST_FAULT_ROUNDS || 1);

export type Random = {
  /** 0 ≤ x < 1. */
  next(): number;
  /** Returns an integer from `from` to `to`, inclusive. */
  between(from: number, to: number): number;
};

/** Returns random numbers that depend only on the suite's seed and on `name` (mulberry32). */
export function seeded(name: string): Random {
  let state = testSeed >>> 0;
  for (const letter of name) state = (Math.imul(state, 31) + letter.charCodeAt(0)) >>> 0;
  return mulberry32(state);
}

/** Returns random numbers that depend only on `seed`. */
export function mulberry32(seed: number): Random {
  let state = seed;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return { next, between: (from, to) => from + Math.floor(next() * (to - from + 1)) };
}

/** Returns the time limit of a test, which depends on the number of rounds. */
export const timeoutFor = (msPerRound: number): number => 180_000 + msPerRound * rounds;
