import type { Pool } from 'pg';
import type { z } from 'zod';
import type { Role } from '../../../orchestrator/ports/authority.ts';
import type { Queryable } from '../../../platform/postgres/transaction.ts';
import type { Draft, Edit } from '../../workflows/edits/index.ts';
import type { ValidationReport } from '../../workflows/schemas.ts';
import type { ProjectScope } from '../../workflows/store.ts';
import {
  type Check,
  type CheckResult,
  type LiveSchema,
  OPEN_STATUSES,
  type ProposalChangeSchema,
  type ProposalStatus,
  type StandInSchema,
} from '../schemas.ts';

export type ProposalHeadRow = {
  id: string;
  tenant_id: string;
  project_id: string;
  workflow_id: string | null;
  title: string;
  status: ProposalStatus;
  revision: number;
  base_revision: number | null;
  edits: number;
  rounds: number;
  valid: boolean;
  applied_revision: number | null;
  applied_by: string | null;
  applied_at: Date | null;
  thread_id: string | null;
  message_id: string | null;
  created_by: string;
  /** The id of the user who created the proposal. */
  creator_id: string;
  created_at: Date;
  updated_at: Date;
};
/** A change of a proposal. Consecutive changes of the same author are one. */
export type ProposalChange = z.output<typeof ProposalChangeSchema> & { role: Role };
type Live = Omit<z.output<typeof LiveSchema>, 'executed'> & Partial<Pick<z.output<typeof LiveSchema>, 'executed'>>;
/** The last trial of a proposal. The verdict is stored once the run has ended. */
export type StoredTrial = {
  run_id: string;
  version: number;
  /** The number of edits that the proposal had. */
  edits: number;
  checks: z.output<typeof Check>[];
  stand_ins: z.output<typeof StandInSchema>[];
  started_by: string;
  started_at: string;
  /** Absent in trials from before live trials existed, like `executed` and the fields below. */
  live?: Live | null;
  from_run?: string | null;
  from_step?: string | null;
  ended: { verdict: 'proven' | 'simulated' | 'failed'; checks: z.output<typeof CheckResult>[] } | null;
};
export type Validation = z.output<typeof ValidationReport>;
export type ProposalRow = ProposalHeadRow & {
  base: Draft;
  draft: Draft;
  ops: Edit[];
  validation: Validation;
  trial: StoredTrial | null;
  trial_workflow_id: string | null;
  /** The draft of the workflow just before and after the proposal was applied. */
  before: Draft | null;
  after: Draft | null;
  changes: ProposalChange[];
  written_after_reading: string | null;
  /** Digests of steps that a person has let a trial execute for real. */
  seen_requests: string[];
};

const HEAD = `p.id, p.tenant_id, p.project_id, p.workflow_id, p.title, p.status, p.revision, p.base_revision,
  json_array_length(p.ops) AS edits, p.rounds, (p.validation->>'valid')::boolean AS valid, p.applied_revision,
  coalesce(a.email, p.applied_by::text) AS applied_by, p.applied_at, p.thread_id, p.message_id, coalesce(c.email, p.created_by::text) AS created_by, p.created_by AS creator_id,
  p.created_at, p.updated_at`;
const FROM = `FROM autopilot_proposals p LEFT JOIN users a ON a.id = p.applied_by LEFT JOIN users c ON c.id = p.created_by`;

export type NewProposal = {
  id: string;
  workflowId: string | null;
  title: string;
  status: ProposalStatus;
  baseRevision: number | null;
  base: Draft;
  draft: Draft;
  ops: readonly Edit[];
  rounds: number;
  validation: Validation;
  /** The conversation and the answer that created the proposal; null if a person created it. */
  madeIn: { threadId: string; messageId: string } | null;
  createdBy: string;
  at: Date;
} & Pick<ProposalRow, 'changes' | 'written_after_reading'>;

/** Inserts a proposal. */
export async function insertProposal(
  db: Queryable,
  { tenantId, projectId }: ProjectScope,
  row: NewProposal,
): Promise<void> {
  await db.query(
    `INSERT INTO autopilot_proposals (id, tenant_id, project_id, workflow_id, title, status, revision, base_revision, base, draft,
       ops, rounds, validation, checks, created_by, created_at, updated_at, thread_id, message_id,
       changes, written_after_reading)
     VALUES ($1, $2, $3, $4, $5, $6, 1, $7, $8, $9, $10, $11, $12, '[]', $13, $14, $14, $15, $16, $17, $18)`,
    [
      row.id,
      tenantId,
      projectId,
      row.workflowId,
      row.title,
      row.status,
      row.baseRevision,
      JSON.stringify(row.base),
      JSON.stringify(row.draft),
      JSON.stringify(row.ops),
      row.rounds,
      JSON.stringify(row.validation),
      row.createdBy,
      row.at,
      row.madeIn?.threadId ?? null,
      row.madeIn?.messageId ?? null,
      JSON.stringify(row.changes),
      row.written_after_reading,
    ],
  );
}

/** Returns the project's proposal with this id; null if there is none. `lock`: locks it until the transaction ends. */
export async function findProposal(
  db: Queryable,
  { tenantId, projectId }: ProjectScope,
  id: string,
  { lock = false }: { lock?: boolean } = {},
): Promise<ProposalRow | null> {
  const { rows } = await db.query<ProposalRow>(
    `SELECT ${HEAD}, p.base, p.draft, p.ops, p.validation, p.trial, p.trial_workflow_id, p.before, p.after, p.changes, p.written_after_reading, p.seen_requests ${FROM}
      WHERE p.id = $1 AND p.tenant_id = $2 AND p.project_id = $3 ${lock ? 'FOR UPDATE OF p' : ''}`,
    [id, tenantId, projectId],
  );
  return rows[0] ?? null;
}

export type ProposalFilter = {
  workflowId: string | undefined;
  threadId: string | undefined;
  status: ProposalStatus | undefined;
  after: { at: Date; id: string } | null;
  limit: number;
};

/** Returns proposals, newest first. */
export async function listProposalRows(
  pool: Pool,
  { tenantId, projectId }: ProjectScope,
  { workflowId, threadId, status, after, limit }: ProposalFilter,
): Promise<ProposalHeadRow[]> {
  const { rows } = await pool.query<ProposalHeadRow>(
    `SELECT ${HEAD} ${FROM}
      WHERE p.tenant_id = $1 AND p.project_id = $2 AND ($3::uuid IS NULL OR p.workflow_id = $3)
        AND ($4::text IS NULL OR p.status = $4) AND ($5::timestamptz IS NULL OR (p.created_at, p.id) < ($5, $6::uuid))
        AND ($8::uuid IS NULL OR p.thread_id = $8)
      ORDER BY p.created_at DESC, p.id DESC LIMIT $7`,
    [
      tenantId,
      projectId,
      workflowId ?? null,
      status ?? null,
      after?.at ?? null,
      after?.id ?? null,
      limit,
      threadId ?? null,
    ],
  );
  return rows;
}

/** Returns the number of open proposals of the project. */
export async function countOpenProposals(db: Queryable, { tenantId, projectId }: ProjectScope): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    'SELECT count(*)::int AS count FROM autopilot_proposals WHERE tenant_id = $1 AND project_id = $2 AND status = ANY($3)',
    [tenantId, projectId, [...OPEN_STATUSES]],
  );
  return rows[0]?.count ?? 0;
}

/** The key of a proposal, and the revision that it must still have. */
export type ProposalAt = ProjectScope & { id: string; revision: number; at: Date };

/** Replaces the contents. Returns false if the proposal is no longer at this revision. */
export async function updateContents(
  db: Queryable,
  { tenantId, projectId, id, revision, at }: ProposalAt,
  next: Pick<ProposalRow, 'draft' | 'ops' | 'validation' | 'rounds' | 'status' | 'changes' | 'written_after_reading'>,
): Promise<boolean> {
  const { rowCount } = await db.query(
    `UPDATE autopilot_proposals
        SET draft = $5, ops = $6, validation = $7, rounds = $8, status = $9, changes = $11,
            written_after_reading = coalesce(written_after_reading, $12), revision = revision + 1, updated_at = $10
      WHERE id = $1 AND tenant_id = $2 AND project_id = $3 AND revision = $4`,
    [
      id,
      tenantId,
      projectId,
      revision,
      JSON.stringify(next.draft),
      JSON.stringify(next.ops),
      JSON.stringify(next.validation),
      next.rounds,
      next.status,
      at,
      JSON.stringify(next.changes),
      next.written_after_reading,
    ],
  );
  return rowCount === 1;
}

/** Replaces the status. Returns false if the proposal is no longer at this revision. */
export async function updateStatus(
  db: Queryable,
  { tenantId, projectId, id, revision, at }: ProposalAt,
  status: ProposalStatus,
): Promise<boolean> {
  const { rowCount } = await db.query(
    `UPDATE autopilot_proposals SET status = $5, revision = revision + 1, updated_at = $6
      WHERE id = $1 AND tenant_id = $2 AND project_id = $3 AND revision = $4`,
    [id, tenantId, projectId, revision, status, at],
  );
  return rowCount === 1;
}

/** Records that a locked proposal was applied, with the draft before and after. */
export async function recordApplied(
  db: Queryable,
  { tenantId, projectId, id, at }: Omit<ProposalAt, 'revision'>,
  applied: { workflowId: string; revision: number; before: Draft; after: Draft; by: string },
): Promise<void> {
  await db.query(
    `UPDATE autopilot_proposals
        SET status = 'applied', workflow_id = $4, applied_revision = $5, before = $6, after = $7, applied_by = $8, applied_at = $9,
            revision = revision + 1, updated_at = $9
      WHERE id = $1 AND tenant_id = $2 AND project_id = $3`,
    [
      id,
      tenantId,
      projectId,
      applied.workflowId,
      applied.revision,
      JSON.stringify(applied.before),
      JSON.stringify(applied.after),
      applied.by,
      at,
    ],
  );
}

/** Stores the latest trial and the workflow of its run. */
export async function updateTrial(
  db: Queryable,
  { tenantId, projectId, id }: ProjectScope & { id: string },
  { workflowId, trial }: { workflowId: string; trial: StoredTrial },
): Promise<void> {
  await db.query(
    `UPDATE autopilot_proposals SET trial = $4, trial_workflow_id = $5
      WHERE id = $1 AND tenant_id = $2 AND project_id = $3`,
    [id, tenantId, projectId, JSON.stringify(trial), workflowId],
  );
}

/** Replaces the digests of the steps that a person has seen and let a live trial execute. */
export async function recordSeen(
  db: Queryable,
  { tenantId, projectId, id }: ProjectScope & { id: string },
  digests: readonly string[],
): Promise<void> {
  await db.query(
    'UPDATE autopilot_proposals SET seen_requests = $4 WHERE id = $1 AND tenant_id = $2 AND project_id = $3',
    [id, tenantId, projectId, JSON.stringify(digests)],
  );
}

/** Stores the verdict of a trial, unless a newer trial was started meanwhile. */
export async function endTrial(
  db: Queryable,
  { tenantId, projectId, id }: ProjectScope & { id: string },
  trial: StoredTrial,
): Promise<void> {
  await db.query(
    `UPDATE autopilot_proposals SET trial = $4
      WHERE id = $1 AND tenant_id = $2 AND project_id = $3 AND trial->>'run_id' = $5`,
    [id, tenantId, projectId, JSON.stringify(trial), trial.run_id],
  );
}
