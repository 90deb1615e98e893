import type { Pool } from 'pg';
import type { Services } from '../../../operation/services.ts';
import type { RunStartedData } from '../../../orchestrator/core/index.ts';
import type { Scope } from '../../../orchestrator/ports/authority.ts';
import type { StepTypeDescription } from '../../../orchestrator/ports/step-type.ts';
import { STEP_TYPES } from '../../../orchestrator/steps/descriptions.ts';
import { callingTypes } from '../../../orchestrator/steps/references.ts';
import { typesWith } from '../../../orchestrator/steps/step-facts.ts';
import { setBounded } from '../../../platform/bounded-map.ts';
import { forbidden, invalid } from '../../../platform/errors.ts';
import { findKind, findStepTypes, hasFailureHandler } from '../store.ts';

/** The step types that require another scope to start, besides `workflow:run`. */
const guardedTypes = Object.entries<StepTypeDescription>(STEP_TYPES).flatMap(([type, { startScope }]) =>
  (startScope === undefined ? [] : [startScope].flat()).map(scope => ({ type, scope })),
);

/** The step types and their scopes, for declarations of operations that start runs. */
export const startScopes = guardedTypes.map(({ type, scope }) => ({
  scope,
  when: `the workflow has \`${type}\` steps`,
}));

/** The types whose runs may start other runs, which the scopes of their own start limit. */
const startingTypes = callingTypes();
/** The types that act with the rights of a person. */
const personalTypes = typesWith(({ actsForPerson }) => actsForPerson === true);
/** The types that run only in a deployment with agents. */
const agentTypes = typesWith(({ feature }) => feature === 'agents');
/** Added to the types of a version that names a failure handler. */
const HANDLED = 'on_failure';
/** Added to the types of Autopilot's version, whose only tools are operations, each of which requires its own scope. */
const AUTOPILOT = 'autopilot';

/** A person, who acts with a token or a session. */
export type ActsFor = NonNullable<RunStartedData['acts_for']>;

type VersionRef = { tenantId: string; workflowId: string; version: number };

/**
 * Throws AppError 403 `insufficient_scope` unless each of the tokens that request the start (`carried`: their scopes)
 * may run every step type of the version, including disabled steps. Tokens with both scopes, and sessions, need no
 * query.
 */
export async function requireStepScopes(
  pool: Pool,
  ref: VersionRef,
  carried: readonly (readonly Scope[])[],
): Promise<void> {
  const lacking = await lackingScope(pool, ref, carried);
  if (lacking === null) return;
  const { type, scope } = lacking;
  throw forbidden(
    `This workflow has ${type} steps: starting it needs a token with the scope ${scope}.`,
    'insufficient_scope',
  );
}

/** Returns a step type of the version whose scope one of these tokens lacks; null if they have all scopes. */
export async function lackingScope(
  pool: Pool,
  ref: VersionRef,
  carried: readonly (readonly Scope[])[],
): Promise<{ type: string; scope: Scope } | null> {
  for (const { type, scope } of guardedTypes) {
    if (carried.every(scopes => scopes.includes(scope))) continue;
    if (requires(await guardedTypesOf(pool, ref), { type, scope })) return { type, scope };
  }
  return null;
}

/**
 * Returns the scopes that step types require and one of the tokens lacks, if the version may start other workflows, in
 * its steps or when it fails. The run stores them, so that they also limit the runs that it starts. Tokens with all
 * scopes, and sessions, need no query.
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
  if (![...startingTypes, HANDLED].some(type => types.has(type))) return {};
  return { withheld_scopes: withheld };
}

/**
 * Returns the person for whom a run of the version acts. The person is stored only if the version acts with a person's
 * rights, or may start other workflows.
 */
export async function actsFor(
  pool: Pool,
  ref: VersionRef,
  actor: ActsFor | undefined,
): Promise<{ acts_for?: ActsFor }> {
  if (actor === undefined) return {};
  const types = await guardedTypesOf(pool, ref);
  return [...personalTypes, ...startingTypes, HANDLED].some(type => types.has(type)) ? { acts_for: actor } : {};
}

/** Throws AppError 422 `agents_disabled` for a version with agents if the deployment has none. */
export async function requireAgents(
  { pool, config }: Pick<Services, 'pool' | 'config'>,
  ref: VersionRef,
): Promise<void> {
  if (config.agents) return;
  const types = await guardedTypesOf(pool, ref);
  const type = agentTypes.find(each => types.has(each));
  if (type === undefined) return;
  throw invalid(
    `This server runs no agents, and the workflow has steps of the type ${type}.`,
    undefined,
    'agents_disabled',
  );
}

/** Returns a step type of the version that requires one of these scopes; null if it has none. */
export async function missingScope(
  pool: Pool,
  ref: VersionRef,
  withheld: readonly string[],
): Promise<{ type: string; scope: Scope } | null> {
  if (withheld.length === 0) return null;
  const types = await guardedTypesOf(pool, ref);
  return guardedTypes.find(guarded => withheld.includes(guarded.scope) && requires(types, guarded)) ?? null;
}

/** Returns whether starting a version with these types requires the scope because of this type. */
function requires(types: ReadonlySet<string>, { type, scope }: { type: string; scope: Scope }): boolean {
  const isOnlyItsOperations = types.has(AUTOPILOT) && agentTypes.includes(type) && scope === 'mcp:execute';
  return types.has(type) && !isOnlyItsOperations;
}

/** The maximum number of versions per pool whose types are cached; each takes some 150 bytes. */
const MAX_REMEMBERED = 20_000;
const rememberedOf = new WeakMap<Pool, Map<string, ReadonlySet<string>>>();

/**
 * Returns the guarded types that a version has, and whether it starts workflows. Cached, because a version never
 * changes.
 */
async function guardedTypesOf(pool: Pool, ref: VersionRef): Promise<ReadonlySet<string>> {
  const remembered = rememberedOf.get(pool) ?? new Map<string, ReadonlySet<string>>();
  rememberedOf.set(pool, remembered);
  const key = `${ref.tenantId} ${ref.workflowId} ${ref.version}`;
  const known = remembered.get(key);
  if (known !== undefined) return known;
  const names = [
    ...new Set([...guardedTypes.map(({ type }) => type), ...startingTypes, ...personalTypes, ...agentTypes]),
  ];
  const isHandled = await hasFailureHandler(pool, ref);
  const isAutopilot = (await findKind(pool, ref)) === AUTOPILOT;
  const types: ReadonlySet<string> = new Set([
    ...(await findStepTypes(pool, ref, names)),
    ...(isHandled ? [HANDLED] : []),
    ...(isAutopilot ? [AUTOPILOT] : []),
  ]);
  // Evicts the oldest entry; if it is still in use, the next start caches it again.
  setBounded(remembered, key, types, MAX_REMEMBERED);
  return types;
}
