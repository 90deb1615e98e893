import type { z } from 'zod';
import type { Context } from '../../operation/context.ts';
import { isoTimestamp } from '../../platform/clock.ts';
import { AppError, conflict, notFound } from '../../platform/errors.ts';
import { findWorkflow, type WorkflowRow } from '../workflows/store.ts';
import { etagOf, projectScope } from '../workflows/view.ts';
import type { AgentSchema } from './schemas.ts';
import { type AgentSettings, settingsOf } from './settings.ts';
import { type AgentExtras, findAgentExtras } from './store.ts';

/** An agent: its workflow, the settings in the workflow's graph, and the fields of its own row. */
export type AgentRow = { workflow: WorkflowRow; extras: AgentExtras; settings: AgentSettings };

/**
 * Returns the agent with this id in the request's project. Throws AppError 404. The workflow is read first: if the agent changes between the
 * two reads, the older ETag keeps the caller from overwriting that change.
 */
export async function requireAgent(ctx: Context, id: string): Promise<AgentRow> {
  const { prisma } = ctx.services;
  const workflow = await findWorkflow(prisma, projectScope(ctx), id);
  const extras = workflow?.kind === 'agent' ? await findAgentExtras(prisma, projectScope(ctx), id) : null;
  if (workflow === null || extras === null) throw notFound('Agent');
  return { workflow, extras, settings: settingsOf(workflow.graph) };
}

type Head = Omit<z.input<typeof AgentSchema>, 'instructions' | 'response_schema' | 'memory'>;

/** Returns an agent as lists show it. */
export function toAgentHead(
  row: Omit<WorkflowRow, 'graph' | 'runSetup' | 'status'>,
  archived: boolean,
  { status, starters }: AgentExtras,
  {
    model,
    temperature,
    max_tokens,
    tools,
    limits,
    on_limit,
  }: Omit<AgentSettings, 'instructions' | 'response_schema' | 'memory'>,
): Head {
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    tenant_id: row.tenantId,
    project_id: row.projectId,
    status: archived ? 'archived' : status,
    version: row.latestVersion ?? 0,
    model,
    temperature: temperature ?? null,
    max_tokens: max_tokens ?? null,
    tools,
    limits,
    on_limit,
    starters,
    etag: etagOf(row),
    created_at: isoTimestamp(row.createdAt.getTime()),
    updated_at: isoTimestamp(row.updatedAt.getTime()),
  };
}

/** Returns the agent, and sets its ETag in the response headers. */
export function answerAgent(ctx: Context, { workflow, extras, settings }: AgentRow): z.input<typeof AgentSchema> {
  ctx.responseHeaders.set('ETag', etagOf(workflow));
  return {
    ...toAgentHead(workflow, workflow.status === 'archived', extras, settings),
    instructions: settings.instructions,
    response_schema: settings.response_schema ?? null,
    memory: settings.memory ?? null,
  };
}

export function agentArchived(): AppError {
  return conflict('agent_archived', 'The agent is archived and can no longer be changed.');
}

/** Returns the error for an If-Match with an older state of the agent. */
export function agentChanged({ workflow }: AgentRow): AppError {
  const message = 'The agent has changed since it was read. Read it again before saving.';
  return new AppError(412, 'etag_mismatch', message, { headers: { ETag: etagOf(workflow) } });
}
