import type { z } from 'zod';
import type { Context } from '../../../operation/context.ts';
import type { JsonMap } from '../../../orchestrator/core/index.ts';
import type { Scope } from '../../../orchestrator/ports/authority.ts';
import { toolDigest } from '../../../orchestrator/steps/agent/grants.ts';
import { AppError, forbidden, invalid } from '../../../platform/errors.ts';
import { isId, newId } from '../../../platform/ids.ts';
import { storageProblem } from '../../../platform/storable-json.ts';
import { effectiveRole } from '../../identity/principal.ts';
import { projectScope } from '../../workflows/view.ts';
import { findActsFor, findRights } from '../authority-queries.ts';
import { type GrantSubject, insertGrant } from '../grants-queries.ts';
import type { GrantFor, GrantInput } from '../schemas.ts';
import { type AskedCall, findAskedCall } from './asked-call.ts';

const MAX_ARGUMENTS_LENGTH = 16_384;

type For = z.output<typeof GrantFor>;

/** The scope that a token needs to give a grant, in addition to the scope to answer tasks. */
export const GRANT_SCOPES = { agent: 'agent:manage', thread: 'ai:use' } as const satisfies Record<For, Scope>;

/**
 * Returns the kinds of grants that the caller may give with an approval of the call. There are none if the tool is not of an MCP instance, or
 * if the run acts for a viewer, because each call for a viewer needs an approval. `thread` requires that the caller sees the conversation.
 */
export async function grantableFor(ctx: Context, call: AskedCall): Promise<For[]> {
  const subjects = await subjectsOf(ctx, call);
  return [...subjects.keys()].filter(each => hasScope(ctx, each));
}

/**
 * Checks that a grant can be given for the call that `step` asks to approve. Returns the function that inserts the grant. Throws AppError
 * 403 `insufficient_scope`, 422 `grant_not_possible`.
 */
export async function prepareGrant(
  ctx: Context,
  { runId, step }: { runId: string; step: string },
  given: z.output<typeof GrantInput>,
): Promise<() => Promise<string>> {
  const { pool, clock } = ctx.services;
  if (!hasScope(ctx, given.for))
    throw forbidden(`This needs a token with the scope ${GRANT_SCOPES[given.for]}.`, 'insufficient_scope');
  const args = (given.arguments ?? null) as JsonMap | null;
  const expiresAt = given.expires_at === undefined ? null : new Date(given.expires_at);
  if (expiresAt !== null && expiresAt.getTime() <= clock.now())
    throw invalid('The expiry must be in the future.', [
      { path: 'grant.expires_at', message: 'must be in the future' },
    ]);
  const problem = args === null ? null : storageProblem(args);
  if (problem !== null || JSON.stringify(args).length > MAX_ARGUMENTS_LENGTH)
    throw invalid('The arguments cannot be stored.', [
      {
        path: 'grant.arguments',
        message: problem?.message ?? `must have at most ${MAX_ARGUMENTS_LENGTH} characters of JSON`,
      },
    ]);
  const requestedCall = await findAskedCall(ctx, runId, step);
  const subject = requestedCall === null ? undefined : (await subjectsOf(ctx, requestedCall)).get(given.for);
  if (requestedCall !== null && !isOfInstance(requestedCall.tool))
    throw new AppError(422, 'grant_not_possible', NOT_OF_INSTANCE, {
      details: [{ path: 'grant', message: NOT_OF_INSTANCE }],
    });
  if (requestedCall === null || subject === undefined) throw notPossible(given.for);
  const { tool } = requestedCall;
  return () =>
    insertGrant(pool, projectScope(ctx), subject, {
      id: newId(),
      instanceId: tool.instance_id,
      tool: tool.tool,
      toolDigest: toolDigest(tool),
      arguments: args,
      grantedBy: ctx.principal.userId,
      at: new Date(clock.now()),
      expiresAt,
    });
}

const NOT_OF_INSTANCE = 'Only calls of tools of MCP instances can be allowed for good. This one is decided by itself.';

/** Operations of the service, workflows, agents and questions to people have a name in place of an instance id. */
const isOfInstance = ({ instance_id }: AskedCall['tool']): boolean => isId(instance_id);

function notPossible(subject: For): AppError {
  const about = subject === 'agent' ? 'an agent of the project' : 'a conversation that you see';
  const message = `Only calls of ${about}, asked by a person who may write in the project, can be allowed for good.`;
  return new AppError(422, 'grant_not_possible', message, { details: [{ path: 'grant.for', message }] });
}

function hasScope({ principal: { credential } }: Context, subject: For): boolean {
  return credential.kind === 'session' || credential.scopes.includes(GRANT_SCOPES[subject]);
}

/** Returns the subjects to which a grant for this call can be given, by kind. */
async function subjectsOf(ctx: Context, { run: runId, tool, work, row }: AskedCall): Promise<Map<For, GrantSubject>> {
  const subjects = new Map<For, GrantSubject>();
  if (!isOfInstance(tool) || !(await actsForWriter(ctx, runId))) return subjects;
  const agentId = work.agent_id ?? row.own_agent_id;
  if (agentId !== null) subjects.set('agent', { agentId });
  if (row.thread_id !== null) subjects.set('thread', { threadId: row.thread_id });
  return subjects;
}

async function actsForWriter(ctx: Context, runId: string): Promise<boolean> {
  const { pool } = ctx.services;
  const scope = projectScope(ctx);
  const actor = await findActsFor(pool, { ...scope, runId });
  const rights = actor === null ? null : await findRights(pool, scope, actor);
  const role = rights === null ? null : effectiveRole(rights.tenant_admin, rights.role);
  return role !== null && role !== 'project_viewer';
}
