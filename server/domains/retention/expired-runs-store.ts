import type { ClientBase } from 'pg';
import { lowestId } from '../../platform/postgres/months.ts';
import { type IdRange, rowBytes } from './ranges.ts';

/** About 10 ms of work a statement, so that other statements never wait long for the processor or the disk. */
const BATCH = 500;

/**
 * Deletes one batch of the runs of a range that ended before `cutoff` (ms since the epoch), with their tasks and with
 * the part of their logs in DEFAULT, in one statement. Their logs in monthly partitions can no longer be read from then
 * on, and are dropped with the partition. Returns how many were deleted, and where to continue; null = nothing is left.
 */
export async function deleteExpiredRuns(
  client: ClientBase,
  range: IdRange,
  cutoff: number,
): Promise<{ deleted: number; rest: IdRange | null }> {
  const { rows } = await client.query<{ deleted: number; last: string | null }>(
    `WITH past AS MATERIALIZED (
       SELECT id FROM runs WHERE id >= $1 AND ($2::uuid IS NULL OR id < $2) AND ended_at < to_timestamp($3::float8 / 1000)
       ORDER BY id LIMIT ${BATCH}),
     gone AS (DELETE FROM runs WHERE id IN (SELECT id FROM past)),
     tasks AS (DELETE FROM human_tasks WHERE run_id IN (SELECT id FROM past)),
     calls AS (DELETE FROM child_runs WHERE run_id IN (SELECT id FROM past)),
     payloads AS (DELETE FROM run_payloads_default WHERE run_id IN (SELECT id FROM past)),
     events AS (DELETE FROM run_events_default WHERE run_id IN (SELECT id FROM past))
     SELECT count(*)::int AS deleted, (SELECT id FROM past ORDER BY id DESC LIMIT 1) AS last FROM past`,
    [range.from, range.to, cutoff],
  );
  const { deleted = 0, last = null } = rows[0] ?? {};
  return { deleted, rest: last === null || deleted < BATCH ? null : { from: last, to: range.to } };
}

/** How many runs of a range end before `cutoff`, and how many stay. */
export async function countRuns(
  client: ClientBase,
  range: IdRange,
  cutoff: number,
): Promise<{ past: number; kept: number }> {
  const { rows } = await client.query<{ past: number; kept: number }>(
    `SELECT count(*) FILTER (WHERE ended_at < to_timestamp($3::float8 / 1000))::int AS past,
            count(*) FILTER (WHERE ended_at IS NULL OR ended_at >= to_timestamp($3::float8 / 1000))::int AS kept
     FROM runs WHERE id >= $1 AND ($2::uuid IS NULL OR id < $2)`,
    [range.from, range.to, cutoff],
  );
  return rows[0] ?? { past: 0, kept: 0 };
}

/** Bytes that the logs of a range's past runs take in DEFAULT. */
export async function bytesInDefault(client: ClientBase, range: IdRange, cutoff: number): Promise<number> {
  const of = (table: 'run_events' | 'run_payloads') =>
    `(SELECT coalesce(sum${rowBytes({ table }, 'd')}, 0) FROM ${table}_default d JOIN runs r ON r.id = d.run_id
      WHERE r.id >= $1 AND ($2::uuid IS NULL OR r.id < $2) AND r.ended_at < to_timestamp($3::float8 / 1000))`;
  const { rows } = await client.query<{ bytes: string }>(
    `SELECT ${of('run_events')} + ${of('run_payloads')} AS bytes`,
    [range.from, range.to, cutoff],
  );
  return Number(rows[0]?.bytes ?? 0);
}

/**
 * Refused starts are kept under ids of the runs that would have been. Those made by a server are as old as their id, so
 * only ids before the cutoff are looked at, and those that cannot be of any time (given by clients), above `now`.
 */
const rejectionRange = `(run_id < $2 OR run_id > $3) AND created_at < to_timestamp($1::float8 / 1000)`;
const rejectionValues = (cutoff: number, now: number) => [cutoff, lowestId(cutoff), lowestId(now)];

/** Deletes one batch of the refused starts before `cutoff`. Returns whether there may be more. */
export async function deleteRejections(client: ClientBase, cutoff: number, now: number): Promise<number> {
  const { rowCount } = await client.query(
    `DELETE FROM run_rejections WHERE run_id IN (SELECT run_id FROM run_rejections WHERE ${rejectionRange} LIMIT ${BATCH})`,
    rejectionValues(cutoff, now),
  );
  return rowCount ?? 0;
}

/** How many starts were refused before `cutoff`. */
export async function countRejections(client: ClientBase, cutoff: number, now: number): Promise<number> {
  const { rows } = await client.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM run_rejections WHERE ${rejectionRange}`,
    rejectionValues(cutoff, now),
  );
  return rows[0]?.count ?? 0;
}

/** Deletes one batch of the usage before `cutoff` that no partition took. Returns how many rows went. */
export async function deleteStrayUsage(client: ClientBase, cutoff: number): Promise<number> {
  const { rowCount } = await client.query(
    `DELETE FROM run_usage_default WHERE ctid = ANY (ARRAY(
       SELECT ctid FROM run_usage_default WHERE created_at < to_timestamp($1::float8 / 1000) LIMIT 5000))`,
    [cutoff],
  );
  return rowCount ?? 0;
}
