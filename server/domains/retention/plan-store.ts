import type { ClientBase } from 'pg';
import type { Partition } from '../../platform/postgres/partitions.ts';
import { rowBytes } from './ranges.ts';

/** Begins a read-only transaction with a snapshot of one instant. */
export async function beginReading(client: ClientBase): Promise<void> {
  await client.query('BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY');
}

export async function endReading(client: ClientBase): Promise<void> {
  await client.query('COMMIT');
}

/** Returns the size of the rows of runs that are or would be deleted, and of the rows of kept runs, in bytes. */
export async function measureLogs(
  client: ClientBase,
  partition: Partition,
  cutoff: number,
): Promise<{ past: number; kept: number }> {
  const size = rowBytes(partition, 'l');
  const { rows } = await client.query<{ past: string | null; kept: string | null }>(
    `SELECT sum(${size}) FILTER (WHERE r.id IS NULL OR r.ended_at < to_timestamp($1::float8 / 1000)) AS past,
            sum(${size}) FILTER (WHERE r.ended_at >= to_timestamp($1::float8 / 1000)
                                                   OR (r.id IS NOT NULL AND r.ended_at IS NULL)) AS kept
     FROM ${partition.name} l LEFT JOIN runs r ON r.id = l.run_id`,
    [cutoff],
  );
  return { past: Number(rows[0]?.past ?? 0), kept: Number(rows[0]?.kept ?? 0) };
}

/** Returns the number of rows of usage before `cutoff` that are in no partition. */
export async function countStrayUsage(client: ClientBase, cutoff: number): Promise<number> {
  const { rows } = await client.query<{ count: number }>(
    'SELECT count(*)::int AS count FROM run_usage_default WHERE created_at < to_timestamp($1::float8 / 1000)',
    [cutoff],
  );
  return rows[0]?.count ?? 0;
}

/** Returns the size of a partition with its indexes, in bytes. */
export async function sizeOf(client: ClientBase, name: string): Promise<number> {
  const { rows } = await client.query<{ bytes: string }>('SELECT pg_total_relation_size($1::regclass) AS bytes', [
    name,
  ]);
  return Number(rows[0]?.bytes ?? 0);
}
