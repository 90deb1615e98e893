import type { Goal } from '../goal.ts';
import { CHANGES } from './changes.ts';
import { COMPUTING } from './computing.ts';
import { FLOW } from './flow.ts';
import { OUTSIDE } from './outside.ts';
import { PEOPLE } from './people.ts';
import { REPAIRS } from './repairs.ts';
import { RESTRAINT } from './restraint.ts';

/** The goals for Autopilot, each with an automatic check. */
export const GOALS: readonly Goal[] = [
  ...COMPUTING,
  ...FLOW,
  ...PEOPLE,
  ...OUTSIDE,
  ...CHANGES,
  ...REPAIRS,
  ...RESTRAINT,
];
