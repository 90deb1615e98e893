import type { ClientBase } from 'pg';

/**
 * Says, before usage goes, from when on it is whole, so that a rebuild of the sums that analytics answer from leaves older ones
 * as they are. False where some of it is not in the sums or not charged yet, or they are being rebuilt: it stays until the next pass.
 */
export async function permitUsagePurge(client: ClientBase, cutoff: number): Promise<boolean> {
  try {
    const { rowCount } = await client.query(
      `UPDATE analytics_progress p SET usage_from = greatest(usage_from, to_timestamp($1::float8 / 1000))
       WHERE ready_seq <= seq
         AND NOT EXISTS (SELECT FROM run_usage u WHERE u.seq > p.seq AND u.created_at < to_timestamp($1::float8 / 1000))
         AND NOT EXISTS (SELECT FROM credit_progress c JOIN run_usage u ON u.seq > c.seq
                         WHERE u.microcredits > 0 AND u.created_at < to_timestamp($1::float8 / 1000))`,
      [cutoff],
    );
    return rowCount === 1;
  } catch (error) {
    // lock_not_available
    if (error instanceof Error && 'code' in error && error.code === '55P03') return false;
    throw error;
  }
}

/**
 * Records, before runs are purged, from when on all ended runs are still there: rollups can be recomputed from then on.
 */
export async function recordRunPurge(client: ClientBase, cutoff: number): Promise<void> {
  await client.query('UPDATE analytics_progress SET runs_from = greatest(runs_from, to_timestamp($1::float8 / 1000))', [
    cutoff,
  ]);
}

/** The sums that billing answers from go with the usage that they are of: at most 5,000, how many. */
export async function deleteUsageRollups(client: ClientBase, cutoff: number): Promise<number> {
  const { rowCount } = await client.query(
    `DELETE FROM usage_sums WHERE ctid = ANY (ARRAY(
       SELECT ctid FROM usage_sums WHERE bucket < to_timestamp($1::float8 / 1000) LIMIT 5000))`,
    [cutoff],
  );
  return rowCount ?? 0;
}
