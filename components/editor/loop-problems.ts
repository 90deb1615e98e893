import type { Step } from '../../server/domains/workflows/edits/index.ts';
import { stepsOfLoop } from '../graph/loop-steps.ts';
import { innerSteps } from './code/readable.ts';
import type { Problem } from './use-draft.ts';

/** Returns whether a problem is in a step of a loop, not in the loop itself. */
export const isInLoop = ({ path }: Pick<Problem, 'path'>): boolean => /^steps\[\d+\]/.test(path);

/**
 * Returns the place of a problem in a loop by step ids: `steps[0].steps[1].script` → "inner › last › script". A step without an id is
 * named by its number, from 1.
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

/**
 * Returns the problems in the loop at `path` as problems of its steps. `path` holds the ids of the loop and of the loops around it, the
 * outermost first. `steps` are the steps of the draft.
 */
export function problemsInside(
  problems: readonly Problem[],
  steps: readonly Step[],
  path: readonly string[],
): readonly Problem[] {
  // Returns the same list, so that typing in a step renders no other step again.
  if (path.length === 0) return problems;
  return problems.flatMap(problem => innerProblem(problem, steps, path) ?? []);
}

/** Converts a problem into a problem of a step in the loop at `path`; null if it is outside of the loop. */
export function innerProblem(problem: Problem, steps: readonly Step[], path: readonly string[]): Problem | null {
  let inner = problem;
  let level: readonly Step[] = steps;
  for (const id of path) {
    const loop = level.find(step => step.id === id);
    const found = FIRST_STEP.exec(inner.path);
    level = (loop && stepsOfLoop(loop)) ?? [];
    const step = level[Number(found?.[1])];
    if (inner.step_id !== id || found === null || step === undefined) return null;
    inner = { ...problem, step_id: step.id, path: inner.path.slice(found[0].length) };
  }
  return inner;
}

/** Returns the canvas nodes of a problem: its step and the loops around it, the outermost first (../graph/levels.ts). */
export function nodesOf({ step_id, path }: Pick<Problem, 'step_id' | 'path'>, steps: readonly Step[]): string[] {
  if (step_id === null) return [];
  const nodes = [step_id];
  let level = steps.find(({ id }) => id === step_id);
  let rest = path;
  for (let found = FIRST_STEP.exec(rest); found !== null; found = FIRST_STEP.exec(rest)) {
    level = level && stepsOfLoop(level)?.[Number(found[1])];
    if (level === undefined) break;
    nodes.push(`${nodes.at(-1)}.${level.id}`);
    rest = rest.slice(found[0].length);
  }
  return nodes;
}
