import * as core from '../core/index.ts';

/** The functions under test. Tests of the checkers put broken ones in their place. */
export type Engine = Pick<typeof core, 'newRun' | 'decide' | 'evolve' | 'effects'>;

export const engine: Engine = {
  newRun: core.newRun,
  decide: core.decide,
  evolve: core.evolve,
  effects: core.effects,
};
