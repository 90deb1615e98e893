import type { Pool } from 'pg';
import type { JsonObject } from '../../../platform/json.ts';

export type FlowRow = { id: string; request: JsonObject; expires_at: Date };
export type FlowOwner = { tenantId: string; userId: string };

/** Inserts a flow that has just begun. */
export async function insertFlow(
  pool: Pool,
  flow: { id: string; stateHash: Buffer; owner: FlowOwner; kind: string; request: unknown; at: Date; expiresAt: Date },
): Promise<void> {
  await pool.query(
    `INSERT INTO oauth_flows (id, state_hash, tenant_id, user_id, kind, request, created_at, expires_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [
      flow.id,
      flow.stateHash,
      flow.owner.tenantId,
      flow.owner.userId,
      flow.kind,
      JSON.stringify(flow.request),
      flow.at,
      flow.expiresAt,
    ],
  );
}

/** The flow that this user began in this tenant; null for anybody else's. */
export async function findFlow(pool: Pool, owner: FlowOwner, kind: string, stateHash: Buffer): Promise<FlowRow | null> {
  const { rows } = await pool.query<FlowRow>(
    `SELECT id, request, expires_at FROM oauth_flows
     WHERE state_hash = $1 AND tenant_id = $2 AND user_id = $3 AND kind = $4`,
    [stateHash, owner.tenantId, owner.userId, kind],
  );
  return rows[0] ?? null;
}

/** False where somebody was faster: a flow is finished once. */
export async function deleteFlow(pool: Pool, tenantId: string, id: string): Promise<boolean> {
  const { rowCount } = await pool.query('DELETE FROM oauth_flows WHERE id = $1 AND tenant_id = $2', [id, tenantId]);
  return rowCount === 1;
}

/** Flows that were begun and never finished, of every tenant. */
export async function listLapsedFlows(
  pool: Pool,
  now: Date,
  take: number,
): Promise<{ id: string; tenant_id: string }[]> {
  const { rows } = await pool.query<{ id: string; tenant_id: string }>(
    'SELECT id, tenant_id FROM oauth_flows WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2',
    [now, take],
  );
  return rows;
}
