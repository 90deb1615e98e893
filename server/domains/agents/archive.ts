import type { z } from 'zod';
import type { Context } from '../../operation/context.ts';
import { AppError } from '../../platform/errors.ts';
import { archiveWorkflow } from '../workflows/queries.ts';
import { projectScope } from '../workflows/view.ts';
import { usesOfAgent } from './queries.ts';
import type { ArchiveAgentInput } from './schemas.ts';
import { requireAgent } from './view.ts';

/** Workflows that an error names. */
const USES_SHOWN = 20;

/**
 * DELETE /v1/agents/{id}: archives it for good; its versions and runs stay readable. Repeating it changes nothing. Throws AppError 404, and
 * 409 `agent_in_use`, naming the workflows in `details`, while a draft or a latest version names it, unless `force`.
 */
export async function archiveAgent(ctx: Context, { id, force }: z.output<typeof ArchiveAgentInput>): Promise<void> {
  const { pool, clock } = ctx.services;
  const { workflow } = await requireAgent(ctx, id);
  if (workflow.status === 'archived') return;
  const scope = projectScope(ctx);
  const uses = force === true ? [] : await usesOfAgent(pool, { ...scope, id }, USES_SHOWN);
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
