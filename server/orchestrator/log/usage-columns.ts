import { QUARTER_HOUR_MS } from '../../platform/clock.ts';
import { newId } from '../../platform/ids.ts';
import type { LogEntry, UsageRow } from './entry.ts';

type Group = { entry: LogEntry; row: UsageRow; quantity: number; lines: string[] };

/**
 * Returns one row for each workflow, action, step type, subject, outcome, person, price and quarter of an hour in the
 * batch, with a line for each attempt (or run).
 */
export function usageColumns(batch: readonly LogEntry[]): readonly (readonly unknown[])[] {
  const groups = new Map<string, Group>();
  const latest = new Map<UsageRow['action'], Group>();
  for (const entry of batch) {
    for (const row of entry.usage) {
      // Most rows belong to the latest group of their action, and building a key of ten parts takes longer than everything
      // else. In the order of run ids, starts, steps and ends alternate.
      let last = latest.get(row.action);
      if (last === undefined || !belongs(last, entry, row)) {
        const key = keyOf(entry, row);
        last = groups.get(key) ?? { entry, row, quantity: 0, lines: [] };
        groups.set(key, last);
        latest.set(row.action, last);
      }
      last.quantity += row.quantity;
      last.lines.push(JSON.stringify([entry.runId, ...row.line]));
    }
  }
  const found = [...groups.values()];
  return [
    found.map(() => newId()),
    found.map(({ entry }) => entry.owner.tenantId),
    found.map(({ entry }) => entry.owner.projectId),
    found.map(({ entry }) => entry.owner.workflowId),
    found.map(({ row }) => row.action),
    found.map(({ quantity }) => quantity),
    found.map(({ quantity, row }) => quantity * row.price),
    found.map(({ lines }) => `[${lines.join(',')}]`),
    found.map(({ row }) => row.at),
    found.map(({ row }) => row.stepType),
    found.map(({ row }) => row.subject),
    found.map(({ row }) => row.outcome),
    found.map(({ entry }) => entry.startedBy),
  ];
}

/** Rollups have quarters of an hour, so no row may span two of them. */
const quarterOf = (row: UsageRow): number => Math.floor(row.at / QUARTER_HOUR_MS);

/** Whether the row belongs to the group: compares all parts of `keyOf` without making a key. */
function belongs(group: Group, { owner, startedBy }: LogEntry, row: UsageRow): boolean {
  const { entry, row: first } = group;
  return (
    entry.owner.workflowId === owner.workflowId &&
    first.action === row.action &&
    first.outcome === row.outcome &&
    first.price === row.price &&
    first.stepType === row.stepType &&
    first.subject === row.subject &&
    quarterOf(first) === quarterOf(row) &&
    entry.startedBy === startedBy &&
    entry.owner.tenantId === owner.tenantId &&
    entry.owner.projectId === owner.projectId
  );
}

function keyOf({ owner, startedBy }: LogEntry, row: UsageRow): string {
  const { action, stepType, subject, outcome, price } = row;
  // Storable text cannot contain the separator.
  return `${owner.workflowId}\0${action}\0${outcome}\0${price}\0${quarterOf(row)}\0${stepType}\0${startedBy}\0${subject}\0${owner.tenantId}\0${owner.projectId}`;
}
