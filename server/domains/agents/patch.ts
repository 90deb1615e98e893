import type { z } from 'zod';
import type { Context } from '../../operation/context.ts';
import { conflict } from '../../platform/errors.ts';
import { transact } from '../../platform/postgres/transaction.ts';
import { checksum } from '../workflows/checksum.ts';
import { expectedRevision } from '../workflows/precondition.ts';
import { updateDraft } from '../workflows/store.ts';
import { insertVersion } from '../workflows/versions/queries.ts';
import { projectScope } from '../workflows/view.ts';
import type { AgentSchema, PatchAgentInput } from './schemas.ts';
import { changedSettings, changeSettings, graphOf } from './settings.ts';
import { updateAgentExtras } from './store.ts';
import { requireValid } from './validate.ts';
import { type AgentRow, agentArchived, agentChanged, answerAgent, requireAgent } from './view.ts';

type Changes = Omit<z.output<typeof PatchAgentInput>, 'id'>;

/** How often a request without If-Match starts over because the agent has changed meanwhile. */
const MAX_ATTEMPTS = 5;

/**
 * PATCH /v1/agents/{id}: changes the given fields and publishes the next version. Publishes no version if no field differs. Throws AppError
 * 404, 409 `agent_archived`, 412 `etag_mismatch`, 422 `invalid_agent`.
 */
export async function patchAgent(
  ctx: Context,
  { id, ...changes }: z.output<typeof PatchAgentInput>,
): Promise<z.input<typeof AgentSchema>> {
  const expected = expectedRevision(ctx);
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
    const row = await requireAgent(ctx, id);
    if (row.workflow.status === 'archived') throw agentArchived();
    if (expected !== null && expected !== row.workflow.revision) throw agentChanged(row);
    const changed = changedFields(row, changes);
    if (changed.length === 0) return answerAgent(ctx, row);
    if (await save(ctx, row, { changes, changed })) return answerAgent(ctx, await requireAgent(ctx, id));
  }
  throw conflict('busy', 'Others are changing the agent at this moment. Try again.');
}

function changedFields({ workflow, extras, settings }: AgentRow, changes: Changes): string[] {
  const { name = workflow.name, description = workflow.description } = changes;
  const { status = extras.status, starters = extras.starters } = changes;
  return [
    ...(name === workflow.name ? [] : ['name']),
    ...(description === workflow.description ? [] : ['description']),
    ...(status === extras.status ? [] : ['status']),
    ...(JSON.stringify(starters) === JSON.stringify(extras.starters) ? [] : ['starters']),
    ...changedSettings(settings, changeSettings(settings, changes)),
  ];
}

/** Saves the changes. Returns false if the agent is no longer at the revision of `row`. */
async function save(
  ctx: Context,
  { workflow, settings }: AgentRow,
  { changes, changed }: { changes: Changes; changed: readonly string[] },
): Promise<boolean> {
  const { prisma, clock } = ctx.services;
  const { id, revision } = workflow;
  const { name, description, status, starters } = changes;
  const next = changeSettings(settings, changes);
  const graph = graphOf(next);
  const graphChecksum = checksum(graph);
  // Unchanged settings are not checked, so that an agent with problems can be disabled or renamed.
  if (graphChecksum !== workflow.graphChecksum) await requireValid(ctx, id, next);
  const scope = projectScope(ctx);
  const at = new Date(clock.now());
  return transact({ prisma }, async tx => {
    const ref = { ...scope, id, kind: 'agent', revision, at } as const;
    const updated = await updateDraft(tx, ref, { name, description, graph: { value: graph, checksum: graphChecksum } });
    if (updated === null) return false;
    await updateAgentExtras(tx, { ...scope, id }, { status, starters });
    const published = { changelog: `Changed: ${changed.join(', ')}`, by: ctx.principal.userId, at };
    await insertVersion(tx, { ...scope, id, revision: updated.revision }, published);
    return true;
  });
}
