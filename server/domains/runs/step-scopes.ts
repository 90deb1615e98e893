import type { Pool } from 'pg';
import type { Scope } from '../../contract/context.ts';
import { forbidden } from '../../platform/errors.ts';
import { findStepTypes } from './store.ts';

/** The scope that starting a run takes besides `workflow:run`, where its version has steps of the type. */
const scopesByStepType = { mcp_call: 'mcp:execute', llm_call: 'ai:use' } as const satisfies Record<string, Scope>;
const guardedTypes = ['mcp_call', 'llm_call'] as const;
type GuardedType = (typeof guardedTypes)[number];

/** The same for declarations of operations that start runs. */
export const startScopes = guardedTypes.map(type => ({
  scope: scopesByStepType[type],
  when: `the workflow has \`${type}\` steps`,
}));

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
  for (const type of guardedTypes) {
    const scope = scopesByStepType[type];
    if (carried.every(scopes => scopes.includes(scope)) || !(await guardedTypesOf(pool, ref)).has(type)) continue;
    throw forbidden(
      `This workflow has ${type} steps: starting it needs a token with the scope ${scope}.`,
      'insufficient_scope',
    );
  }
}

/** Versions whose types are remembered, for each pool; some 150 bytes each. */
const MAX_REMEMBERED = 20_000;
const rememberedOf = new WeakMap<Pool, Map<string, ReadonlySet<GuardedType>>>();

/** Which of the guarded types a version has. A version never changes, so each is looked up once. */
async function guardedTypesOf(pool: Pool, ref: VersionRef): Promise<ReadonlySet<GuardedType>> {
  const remembered = rememberedOf.get(pool) ?? new Map<string, ReadonlySet<GuardedType>>();
  rememberedOf.set(pool, remembered);
  const key = `${ref.tenantId} ${ref.workflowId} ${ref.version}`;
  const known = remembered.get(key);
  if (known !== undefined) return known;
  const types: ReadonlySet<GuardedType> = new Set(await findStepTypes(pool, ref, guardedTypes));
  // The oldest goes first; one that is still in use comes back with its next start.
  if (remembered.size >= MAX_REMEMBERED)
    for (const oldest of remembered.keys()) {
      remembered.delete(oldest);
      break;
    }
  remembered.set(key, types);
  return types;
}
