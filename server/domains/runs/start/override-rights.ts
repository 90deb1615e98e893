import type { Services } from '../../../operation/services.ts';
import type { Graph, JsonMap } from '../../../orchestrator/core/index.ts';
import type { Scope } from '../../../orchestrator/ports/authority.ts';
import { guardedFields, passedOver } from '../../../orchestrator/validation/index.ts';
import { AppError, type ErrorDetail } from '../../../platform/errors.ts';

/**
 * Editing a workflow requires this scope, and so does a start that overrides more of a step than its
 * author allows (docs/adr/0013).
 */
export const EDIT_SCOPE = 'workflow:write' satisfies Scope;

/** The requirement of `EDIT_SCOPE` in declarations of operations that start runs. */
export const editScope = {
  scope: EDIT_SCOPE,
  when: 'it overrides a field that the step does not list in `overridable`, seeds results, or leaves a `condition` or `human_task` out of an episode',
} as const;

/** The scopes of each token that requests a start. */
export type Carried = readonly (readonly Scope[])[];
export const mayEdit = (carried: Carried): boolean => carried.every(scopes => scopes.includes(EDIT_SCOPE));

type Overrides = Record<string, JsonMap>;
/** `saved`: the overrides in the version's run setup, which its author wrote. */
type Request = { graph: Graph; overrides: Overrides; saved: Overrides };

/**
 * Throws AppError 403 `insufficient_scope` unless each of the tokens may edit workflows, or no override requires that.
 */
export function requireOverrideRights(
  { stepTypes }: Pick<Services, 'stepTypes'>,
  { graph, overrides, saved }: Request,
  { carried, path }: { carried: Carried; path: string },
): void {
  if (mayEdit(carried)) return;
  const guarded = guardedFields(graph, { overrides, saved }, stepTypes);
  if (guarded.length === 0) return;
  const message = `takes ${EDIT_SCOPE}: its step does not open it to overrides`;
  throw editNeeded(
    'Overriding these fields',
    guarded.slice(0, 50).map(({ step, field }) => ({ path: `${path}.${step}.${field}`, message })),
  );
}

/** Throws the same error for a start that provides results, or that skips a check or an approval. */
export function requireWholeRun(
  { stepTypes }: Pick<Services, 'stepTypes'>,
  graph: Graph,
  data: { mode: string; trigger_steps: Overrides; seed_results: JsonMap },
  carried: Carried,
): void {
  if (mayEdit(carried)) return;
  const passed = passedOver(graph, data, stepTypes);
  if (passed.length === 0) return;
  throw editNeeded(
    'Passing over checks, approvals or results',
    passed.slice(0, 50).map(({ path, message }) => ({ path: `params.${path}`, message })),
  );
}

/** Returns AppError 403 for an action that requires the right to edit the workflow. */
export function editNeeded(what: string, details: ErrorDetail[]): AppError {
  const message = `${what} needs a token with the scope ${EDIT_SCOPE}.`;
  return new AppError(403, 'insufficient_scope', message, { details });
}
