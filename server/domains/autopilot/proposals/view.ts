import type { z } from 'zod';
import type { Context } from '../../../operation/context.ts';
import { isoTimestamp } from '../../../platform/clock.ts';
import { conflict, notFound } from '../../../platform/errors.ts';
import type { Queryable } from '../../../platform/postgres/transaction.ts';
import { draftOf } from '../../workflows/apply-edits.ts';
import { diff, merge } from '../../workflows/edits/index.ts';
import { findWorkflow } from '../../workflows/store.ts';
import { projectScope } from '../../workflows/view.ts';
import { OPEN_STATUSES, type ProposalHead, type ProposalSchema } from '../schemas.ts';
import { MAX_CONFLICTS } from './conflicts.ts';
import { proposalEtag } from './review.ts';
import { findProposal, type ProposalHeadRow, type ProposalRow } from './store.ts';

type Head = z.input<typeof ProposalHead>;
type Proposal = z.input<typeof ProposalSchema>;

const isOpen = ({ status }: Pick<ProposalHeadRow, 'status'>): boolean =>
  (OPEN_STATUSES as readonly string[]).includes(status);

/** Returns the proposal with this id in the request's project. Throws AppError 404. */
export async function requireProposal(
  ctx: Context,
  id: string,
  on: { db: Queryable; lock: boolean } = { db: ctx.services.pool, lock: false },
): Promise<ProposalRow> {
  const row = await findProposal(on.db, projectScope(ctx), id, { lock: on.lock });
  if (row === null) throw notFound('Proposal');
  return row;
}

/** Throws AppError 409 `proposal_closed` unless the proposal is open. */
export function requireOpen(row: ProposalHeadRow): void {
  if (!isOpen(row)) throw conflict('proposal_closed', `The proposal is ${row.status}.`);
}

/** Returns a proposal as lists show it. */
export function toProposalHead(row: ProposalHeadRow): Head {
  const { id, tenant_id, project_id, workflow_id, title, status, base_revision, edits, valid, rounds } = row;
  return {
    etag: proposalEtag(row),
    ...{ id, tenant_id, project_id, workflow_id, title, status, base_revision, edits, valid, rounds },
    applied_revision: row.applied_revision,
    applied_by: row.applied_by,
    applied_at: row.applied_at && isoTimestamp(row.applied_at.getTime()),
    thread_id: row.thread_id,
    message_id: row.message_id,
    created_by: row.created_by,
    created_at: isoTimestamp(row.created_at.getTime()),
    updated_at: isoTimestamp(row.updated_at.getTime()),
  };
}

/** Returns a proposal with its changes, and its conflicts with the current draft. */
export async function toProposal(ctx: Context, row: ProposalRow): Promise<Proposal> {
  const { draft, base, validation } = row;
  ctx.responseHeaders.set('ETag', proposalEtag(row));
  return {
    ...toProposalHead(row),
    draft: draft as Proposal['draft'],
    diff: diff(base, draft) as Proposal['diff'],
    validation,
    tried: row.trial !== null,
    changes: row.changes.map(({ role: _, ...change }) => change),
    written_after_reading: row.written_after_reading,
    conflicts: isOpen(row) ? await conflictsOf(ctx, row) : [],
  };
}

async function conflictsOf(ctx: Context, { workflow_id, base, draft }: ProposalRow): Promise<Proposal['conflicts']> {
  const workflow =
    workflow_id === null ? null : await findWorkflow(ctx.services.prisma, projectScope(ctx), workflow_id);
  if (workflow === null) return [];
  const merged = merge(base, draft, draftOf(workflow));
  if (merged.ok) return [];
  return merged.conflicts.slice(0, MAX_CONFLICTS).map(({ step, field, base: from, ours, theirs }) => ({
    step,
    field,
    ...(from !== undefined && { base: from as never }),
    ...(ours !== undefined && { proposal: ours as never }),
    ...(theirs !== undefined && { draft: theirs as never }),
  }));
}
