import type { z } from 'zod';
import type { Context } from '../../../operation/context.ts';
import { cutPage, decodeCursor, TimeIdKey } from '../../../operation/cursor.ts';
import { projectScope } from '../../workflows/view.ts';
import type { ListProposalsInput, ListProposalsOutput, ProposalRef, ProposalSchema } from '../schemas.ts';
import { listProposalRows } from './store.ts';
import { requireProposal, toProposal, toProposalHead } from './view.ts';

/** GET /v1/autopilot/proposals: the project's proposals, newest first, without large fields. */
export async function listProposals(
  ctx: Context,
  { limit, cursor, workflow_id, thread_id, status }: z.output<typeof ListProposalsInput>,
): Promise<z.input<typeof ListProposalsOutput>> {
  const key = decodeCursor(TimeIdKey, cursor);
  const after = key && { at: new Date(key[0]), id: key[1] };
  const filter = { workflowId: workflow_id, threadId: thread_id, status, after, limit: limit + 1 };
  const rows = await listProposalRows(ctx.services.pool, projectScope(ctx), filter);
  const { rows: kept, next_cursor } = cutPage(rows, limit, row => [row.created_at.getTime(), row.id]);
  return { proposals: kept.map(toProposalHead), next_cursor };
}

/** GET /v1/autopilot/proposals/{id}. Throws AppError 404. */
export async function getProposal(
  ctx: Context,
  { id }: z.output<typeof ProposalRef>,
): Promise<z.input<typeof ProposalSchema>> {
  return toProposal(ctx, await requireProposal(ctx, id));
}
