import type { ClientBase } from 'pg';

/**
 * Records the time from which usage is complete, before older usage is purged, so that a rebuild of the rollups leaves
 * older rollups unchanged. Returns false if some of that usage is not yet aggregated or charged, or if the rollups are
 * being rebuilt; the usage is then kept until the next pass.
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
 * Records the time from which all ended runs are complete, before older ones are purged. Rollups can be recomputed from
 * that time on.
 */
export async function recordRunPurge(client: ClientBase, cutoff: number): Promise<void> {
  await client.query('UPDATE analytics_progress SET runs_from = greatest(runs_from, to_timestamp($1::float8 / 1000))', [
    cutoff,
  ]);
}

/** Deletes rollups that billing reads, together with their usage: at most 5,000. Returns how many. */
export async function deleteUsageRollups(client: ClientBase, cutoff: number): Promise<number> {
  const { rowCount } = await client.query(
    `DELETE FROM usage_sums WHERE ctid = ANY (ARRAY(
       SELECT ctid FROM usage_sums WHERE bucket < to_timestamp($1::float8 / 1000) LIMIT 5000))`,
    [cutoff],
  );
  return rowCount ?? 0;
}
