import type { z } from 'zod';
import type { Context } from '../../operation/context.ts';
import { DEFAULT_KIND } from '../../operation/workflow-kinds.ts';
import { requireScopes } from '../identity/authority.ts';
import { requestStop } from '../run-stops/request.ts';
import { whyUnchanged } from './precondition.ts';
import { archiveWorkflow } from './queries.ts';
import type { ArchiveWorkflowInput } from './schemas.ts';
import { projectScope } from './view.ts';

/**
 * Archives a workflow permanently: it can no longer be started or changed, but its versions and runs stay readable.
 * Archiving it again changes nothing. If the request asks for it, a bulk stop ends its active runs: stopping them all
 * at the same time would fill the commit queue. Throws AppError 403 `insufficient_scope`, 404, 409 `managed_elsewhere`,
 * and what `requestStop` throws.
 */
export async function archive(ctx: Context, input: z.output<typeof ArchiveWorkflowInput>): Promise<void> {
  const { pool, clock } = ctx.services;
  if (input.runs === 'stop') requireScopes(ctx.principal, ['workflow:run']);
  const ref = { id: input.id, kind: DEFAULT_KIND, at: new Date(clock.now()) };
  if (!(await archiveWorkflow(pool, projectScope(ctx), ref))) throw await whyUnchanged(ctx, input.id);
  if (input.runs === 'continue') return;
  const { tenantId, projectId, email } = ctx.principal;
  const filter = { project_id: projectId, workflow_ids: [input.id] };
  await requestStop(ctx.services, { tenantId, filter, mode: 'immediate', requestedBy: email });
}
