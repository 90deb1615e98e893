import { lowestId } from '../../platform/postgres/months.ts';
import type { Partition } from '../../platform/postgres/partitions.ts';

/** A half-open range of run ids; `to` null = without an upper bound. */
export type IdRange = { from: string; to: string | null };

const LEAST_ID = '00000000-0000-0000-0000-000000000000';

/** Returns the range of the run ids of a partition. */
export function idRange({ from, to }: Pick<Partition, 'from' | 'to'>): IdRange {
  return { from: from === Number.NEGATIVE_INFINITY ? LEAST_ID : lowestId(from), to: lowestId(to) };
}

/**
 * Returns the size of a row of the log as an SQL expression over `alias`, without reading values
 * that are stored out of line.
 */
export function rowBytes({ table }: Pick<Partition, 'table'>, alias: string): string {
  return `(80 + pg_column_size(${alias}.${table === 'run_payloads' ? 'body' : 'data'}))`;
}

/**
 * Returns the partitions of logs whose runs all started before `cutoff`, oldest first. Each run is in at
 * most one partition of a table.
 */
export function pastPartitions(partitions: readonly Partition[], cutoff: number): Partition[] {
  return partitions
    .filter(({ table, to }) => table !== 'run_usage' && to <= cutoff)
    .sort((a, b) => a.to - b.to || a.table.localeCompare(b.table));
}

/**
 * Returns the ranges of run ids in which runs may have expired at `cutoff`: the months that have ended before it, and
 * the gaps between and beyond all months, whose logs are in DEFAULT.
 */
export function sweptRanges(partitions: readonly Partition[], cutoff: number): IdRange[] {
  const months = partitions.filter(({ table }) => table === 'run_events').sort((a, b) => a.to - b.to);
  const ranges: IdRange[] = [];
  let covered = LEAST_ID;
  for (const month of months) {
    const { from, to } = idRange(month);
    if (from > covered) ranges.push({ from: covered, to: from });
    if (month.to <= cutoff) ranges.push({ from, to });
    covered = lowestId(month.to);
  }
  ranges.push({ from: covered, to: null });
  return ranges;
}
