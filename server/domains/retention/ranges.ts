import { lowestId } from '../../platform/postgres/months.ts';
import type { Partition } from '../../platform/postgres/partitions.ts';

/** A range of run ids, half open; `to` null = to the end. */
export type IdRange = { from: string; to: string | null };

const LEAST_ID = '00000000-0000-0000-0000-000000000000';

/** The run ids of a partition. */
export function idRange({ from, to }: Pick<Partition, 'from' | 'to'>): IdRange {
  return { from: from === Number.NEGATIVE_INFINITY ? LEAST_ID : lowestId(from), to: lowestId(to) };
}

/** Bytes of a row of the log as an SQL expression over `alias`, without reading values that are kept aside. */
export function rowBytes({ table }: Pick<Partition, 'table'>, alias: string): string {
  return `(80 + pg_column_size(${alias}.${table === 'run_payloads' ? 'body' : 'data'}))`;
}

/** Partitions of logs whose runs all began before `cutoff`, oldest first; a run lies in one of each table at most. */
export function pastPartitions(partitions: readonly Partition[], cutoff: number): Partition[] {
  return partitions
    .filter(({ table, to }) => table !== 'run_usage' && to <= cutoff)
    .sort((a, b) => a.to - b.to || a.table.localeCompare(b.table));
}

/**
 * The ranges of run ids in which runs may be past their retention at `cutoff`: the months that are over since then, and
 * what lies between and beyond all months, whose logs are in DEFAULT.
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
