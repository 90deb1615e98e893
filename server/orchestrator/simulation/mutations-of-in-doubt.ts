import type { Mutation } from './mutations.ts';

/** Many faults, so that many attempts are lost. */
const knobs = { faults: 8, oddities: 0 };

/** Ways to break the handling of calls that may have happened. */
export const IN_DOUBT: readonly Mutation[] = [
  {
    name: 'a call that may have happened is made again by itself',
    file: 'core/evolve.ts',
    find: 'step.inDoubt = true;',
    replace: '',
    caughtBy: ['in-doubt'],
    knobs,
  },
  {
    name: 'a call that is to be repeated is asked about again and again',
    file: 'core/in-doubt.ts',
    find: 'step.inDoubt = undefined;',
    replace: '',
    caughtBy: ['in-doubt'],
    knobs,
  },
  {
    name: 'a call that is to be repeated is not',
    file: 'core/in-doubt.ts',
    find: "move(state, id, step, 'ready');",
    replace: '',
    caughtBy: ['effects', 'projection'],
    knobs,
  },
  {
    name: 'a rejection has a call repeated',
    file: 'core/in-doubt.ts',
    find: "if (!approved) return 'skip';",
    replace: '',
    caughtBy: ['in-doubt'],
    knobs,
  },
  {
    name: 'the result that a person entered is lost',
    file: 'core/in-doubt.ts',
    find: 'result.result ?? null;',
    replace: 'null;',
    caughtBy: ['in-doubt'],
    knobs,
  },
  {
    name: 'the answer about a call that may have happened becomes its result',
    file: 'core/evolve.ts',
    find: '...(event.data.in_doubt && { inDoubt: true as const }),',
    replace: '',
    caughtBy: ['in-doubt'],
    knobs,
  },
];
