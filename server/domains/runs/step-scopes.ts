import type { Pool } from 'pg';
import type { Scope } from '../../contract/context.ts';
import type { StepTypeDescription } from '../../contract/step-type.ts';
import { STEP_TYPES } from '../../orchestrator/steps/descriptions.ts';
import { forbidden } from '../../platform/errors.ts';
import { findStepTypes, hasFailureHandler } from './store.ts';

/** The step types that take a scope to start, besides `workflow:run`. */
const guardedTypes = Object.entries<StepTypeDescription>(STEP_TYPES).flatMap(([type, { startScope }]) =>
  startScope === undefined ? [] : [{ type, scope: startScope }],
);

/** The same for declarations of operations that start runs. */
export const startScopes = guardedTypes.map(({ type, scope }) => ({
  scope,
  when: `the workflow has \`${type}\` steps`,
}));

/** Whose runs may start others, for which the scopes of their own start count. */
const CALLING_TYPE = 'call_workflow';
/** Stands among the types of a version that names a workflow for its failed runs. */
const HANDLED = 'on_failure';

type VersionRef = { tenantId: string; workflowId: string; version: number };

/**
 * AppError 403 `insufficient_scope` unless each of the tokens that ask for the start (`carried`: the scopes of each) may run
 * every type of step of the version, disabled ones too. Tokens with both scopes, and sessions, cost no look-up.
 */
export async function requireStepScopes(
  pool: Pool,
  ref: VersionRef,
  carried: readonly (readonly Scope[])[],
): Promise<void> {
  for (const { type, scope } of guardedTypes) {
    if (carried.every(scopes => scopes.includes(scope)) || !(await guardedTypesOf(pool, ref)).has(type)) continue;
    throw forbidden(
      `This workflow has ${type} steps: starting it needs a token with the scope ${scope}.`,
      'insufficient_scope',
    );
  }
}

/**
 * The scopes that types of step take to start and that one of the tokens lacks, if the version may start other workflows, by its steps or when it fails: its
 * runs remember them, so that what they call is limited as well. Tokens with all of them, and sessions, cost no look-up.
 */
export async function withheldScopes(
  pool: Pool,
  ref: VersionRef,
  carried: readonly (readonly Scope[])[],
): Promise<{ withheld_scopes?: string[] }> {
  const scopes = new Set(guardedTypes.map(({ scope }) => scope));
  const withheld = [...scopes].filter(scope => !carried.every(each => each.includes(scope)));
  if (withheld.length === 0) return {};
  const types = await guardedTypesOf(pool, ref);
  if (!types.has(CALLING_TYPE) && !types.has(HANDLED)) return {};
  return { withheld_scopes: withheld };
}

/** Returns a type of step of the version that takes one of these scopes to start; null if it has none. */
export async function missingScope(
  pool: Pool,
  ref: VersionRef,
  withheld: readonly string[],
): Promise<{ type: string; scope: Scope } | null> {
  if (withheld.length === 0) return null;
  const types = await guardedTypesOf(pool, ref);
  return guardedTypes.find(({ type, scope }) => withheld.includes(scope) && types.has(type)) ?? null;
}

/** Versions whose types are remembered, for each pool; some 150 bytes each. */
const MAX_REMEMBERED = 20_000;
const rememberedOf = new WeakMap<Pool, Map<string, ReadonlySet<string>>>();

/** Returns which of the guarded types a version has, and whether it starts workflows. A version never changes, so each is looked up once. */
async function guardedTypesOf(pool: Pool, ref: VersionRef): Promise<ReadonlySet<string>> {
  const remembered = rememberedOf.get(pool) ?? new Map<string, ReadonlySet<string>>();
  rememberedOf.set(pool, remembered);
  const key = `${ref.tenantId} ${ref.workflowId} ${ref.version}`;
  const known = remembered.get(key);
  if (known !== undefined) return known;
  const names = [...guardedTypes.map(({ type }) => type), CALLING_TYPE];
  const isHandled = await hasFailureHandler(pool, ref);
  const types: ReadonlySet<string> = new Set([
    ...(await findStepTypes(pool, ref, names)),
    ...(isHandled ? [HANDLED] : []),
  ]);
  // The oldest goes first; one that is still in use comes back with its next start.
  if (remembered.size >= MAX_REMEMBERED)
    for (const oldest of remembered.keys()) {
      remembered.delete(oldest);
      break;
    }
  remembered.set(key, types);
  return types;
}
