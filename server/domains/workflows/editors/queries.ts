import type { Pool } from 'pg';
import type { Queryable } from '../../../platform/postgres/transaction.ts';

type DraftRef = { tenantId: string; workflowId: string };
type EditorRef = DraftRef & { userId: string };

/** A member of the workspace who edits a draft, or has saved it. */
export type EditorRow = { userId: string; name: string; at: Date };

/** Returns SQL that inserts or updates the row of a member. It does nothing if the membership has ended meanwhile. */
const upsert = (columns: readonly string[]) =>
  `INSERT INTO workflow_editors (workflow_id, tenant_id, user_id, ${columns.join(', ')})
   SELECT $1::uuid, tenant_id, user_id, ${columns.map((_, at) => `$${at + 4}`).join(', ')}
     FROM memberships WHERE tenant_id = $2 AND user_id = $3 FOR KEY SHARE
   ON CONFLICT (workflow_id, user_id) DO UPDATE
     SET ${columns.map(column => `${column} = excluded.${column}`).join(', ')}`;
const UPSERT_SEEN = upsert(['seen_at']);
const UPSERT_SAVED = upsert(['saved_at', 'saved_revision']);

/** Records when a member had the editor of a draft open; with null, that the member has closed it. */
export async function recordSeen(db: Queryable, ref: EditorRef, at: Date | null): Promise<void> {
  await db.query(UPSERT_SEEN, [ref.workflowId, ref.tenantId, ref.userId, at]);
}

/** Records that a member has saved this revision of a draft. */
export async function recordSave(
  db: Queryable,
  ref: EditorRef,
  { revision, at }: { revision: number; at: Date },
): Promise<void> {
  await db.query(UPSERT_SAVED, [ref.workflowId, ref.tenantId, ref.userId, at, revision]);
}

const editorsQuery = (column: 'seen_at' | 'saved_at', condition: string) =>
  `SELECT e.user_id AS "userId", u.name, e.${column} AS at
     FROM workflow_editors e JOIN users u ON u.id = e.user_id
    WHERE e.tenant_id = $1 AND e.workflow_id = $2 AND ${condition}
    ORDER BY e.${column} DESC, e.user_id LIMIT $4`;
const SELECT_SEEN = editorsQuery('seen_at', 'e.seen_at > $3');
const SELECT_SAVED = editorsQuery('saved_at', 'e.saved_revision > $3');

/** Returns the members who were seen after an instant, the last first. */
export async function readSeen(
  pool: Pool,
  { tenantId, workflowId }: DraftRef,
  { after, limit }: { after: Date; limit: number },
): Promise<EditorRow[]> {
  return (await pool.query<EditorRow>(SELECT_SEEN, [tenantId, workflowId, after, limit])).rows;
}

/** Returns the members who have saved a revision after this one, the last first. */
export async function readSaved(
  pool: Pool,
  { tenantId, workflowId }: DraftRef,
  { after, limit }: { after: number; limit: number },
): Promise<EditorRow[]> {
  return (await pool.query<EditorRow>(SELECT_SAVED, [tenantId, workflowId, after, limit])).rows;
}
