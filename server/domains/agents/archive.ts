import type { z } from 'zod';
import type { Context } from '../../operation/context.ts';
import { AppError } from '../../platform/errors.ts';
import { archiveWorkflow } from '../workflows/queries.ts';
import { projectScope } from '../workflows/view.ts';
import { listUsesOfAgent } from './queries.ts';
import type { ArchiveAgentInput } from './schemas.ts';
import { requireAgent } from './view.ts';

/** The maximum number of workflows that an error names. */
const MAX_USES_SHOWN = 20;

/**
 * DELETE /v1/agents/{id}: archives the agent. Archiving is final and idempotent; versions and runs stay readable. Throws AppError 404, and
 * 409 `agent_in_use` if a draft or a latest version names the agent, unless `force` is set. `details` lists these workflows.
 */
export async function archiveAgent(ctx: Context, { id, force }: z.output<typeof ArchiveAgentInput>): Promise<void> {
  const { pool, clock } = ctx.services;
  const { workflow } = await requireAgent(ctx, id);
  if (workflow.status === 'archived') return;
  const scope = projectScope(ctx);
  const uses = force === true ? [] : await listUsesOfAgent(pool, { ...scope, id }, MAX_USES_SHOWN);
  if (uses.length > 0) {
    const details = uses.map(use => ({
      path: `workflows.${use.workflow_id}`,
      message: `“${use.name}” names it in its ${use.published ? 'published version' : 'draft'}`,
      code: 'agent_in_use',
    }));
    const message = 'Workflows use this agent. Change them first, or repeat with force=true.';
    throw new AppError(409, 'agent_in_use', message, { details });
  }
  await archiveWorkflow(pool, scope, { id, kind: 'agent', at: new Date(clock.now()) });
}
