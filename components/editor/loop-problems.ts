import type { Step } from '../../server/domains/workflows/edits/index.ts';
import { innerSteps } from './code/readable.ts';
import type { Problem } from './use-draft.ts';

/** Whether a problem is in one of the steps of a loop, rather than in the loop itself. */
export const isInLoop = ({ path }: Pick<Problem, 'path'>): boolean => /^steps\[\d+\]/.test(path);

/**
 * Returns where in a loop a problem is, by the ids of the steps: `steps[0].steps[1].script` → "inner › last › script". A step
 * without an id is named by its number, from 1.
 */
export function placeInLoop(loop: Step | undefined, path: string): string {
  const names: string[] = [];
  let level = loop;
  let rest = path;
  for (let found = FIRST_STEP.exec(rest); found !== null; found = FIRST_STEP.exec(rest)) {
    const at = Number(found[1]);
    const listed: unknown = Array.isArray(level?.steps) ? level.steps[at] : undefined;
    level = level && innerSteps(level).find(step => step === listed);
    names.push(level?.id || `step ${at + 1}`);
    rest = rest.slice(found[0].length);
  }
  return [...names, ...(rest === '' ? [] : [rest])].join(' › ');
}

const FIRST_STEP = /^steps\[(\d+)\]\.?/;
