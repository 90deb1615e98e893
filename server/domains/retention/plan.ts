import type { ClientBase } from 'pg';
import { inOwnSession } from '../../platform/postgres/own-session.ts';
import { listPartitions, type Partition } from '../../platform/postgres/partitions.ts';
import { countAuditEntries } from './audit-store.ts';
import { bytesInDefault, countRejections, countRuns } from './expired-runs-store.ts';
import { countNotificationDeliveries } from './notification-store.ts';
import { beginReading, countStrayUsage, endReading, measureLogs, sizeOf } from './plan-store.ts';
import type { Cutoffs } from './policy.ts';
import { idRange, pastPartitions, sweptRanges } from './ranges.ts';
import { SESSION } from './session.ts';

/**
 * A partition that would be dropped, or rewritten without the logs of deleted runs; `keepsRuns` is the number of runs
 * that stay.
 */
export type PlannedPartition = { name: string; action: 'drop' | 'rewrite'; bytes: number; keepsRuns: number };

/**
 * The work that retention would do now. `bytes` includes the bytes that dropped and rewritten partitions return to the
 * disk, and the bytes that become reusable in DEFAULT.
 */
export type RetentionPlan = {
  cutoffs: Cutoffs;
  partitions: PlannedPartition[];
  runs: number;
  rejections: number;
  /** The rows of usage in no partition. */
  strayUsage: number;
  /** The entries of the audit log. */
  auditEntries: number;
  /** The deliveries of notifications. */
  notifications: number;
  bytes: number;
};

/**
 * Returns the work that retention would do, as of one instant, without changing anything. `now` in ms since the epoch.
 */
export function planRetention(url: string, cutoffs: Cutoffs, now: number): Promise<RetentionPlan> {
  return inOwnSession(url, SESSION, async client => {
    await beginReading(client);
    const partitions = await listPartitions(client);
    const nothing = { runs: 0, rejections: 0, strayUsage: 0, auditEntries: 0, notifications: 0, bytes: 0 };
    const plan: RetentionPlan = { cutoffs, partitions: [], ...nothing };
    if (cutoffs.runs !== null) await planRuns(client, partitions, cutoffs.runs, now, plan);
    if (cutoffs.usage !== null) await planUsage(client, partitions, cutoffs.usage, plan);
    if (cutoffs.audit !== null) plan.auditEntries = await countAuditEntries(client, cutoffs.audit);
    plan.bytes += plan.partitions.reduce((sum, { bytes }) => sum + bytes, 0);
    await endReading(client);
    return plan;
  });
}

async function planRuns(
  client: ClientBase,
  partitions: readonly Partition[],
  cutoff: number,
  now: number,
  plan: RetentionPlan,
): Promise<void> {
  for (const range of sweptRanges(partitions, cutoff)) {
    plan.runs += (await countRuns(client, range, cutoff)).past;
    plan.bytes += await bytesInDefault(client, range, cutoff);
  }
  plan.rejections = await countRejections(client, cutoff, now);
  plan.notifications = await countNotificationDeliveries(client, cutoff);
  for (const partition of pastPartitions(partitions, cutoff)) {
    const { kept } = await countRuns(client, idRange(partition), cutoff);
    const total = await sizeOf(client, partition.name);
    if (kept === 0) plan.partitions.push({ name: partition.name, action: 'drop', bytes: total, keepsRuns: 0 });
    else {
      const logs = await measureLogs(client, partition, cutoff);
      // The deleted part of the file with pages and indexes is estimated from the deleted part of its rows.
      const bytes = Math.round((total * logs.past) / Math.max(1, logs.past + logs.kept));
      if (logs.past > 0) plan.partitions.push({ name: partition.name, action: 'rewrite', bytes, keepsRuns: kept });
    }
  }
}

async function planUsage(
  client: ClientBase,
  partitions: readonly Partition[],
  cutoff: number,
  plan: RetentionPlan,
): Promise<void> {
  for (const { table, name, to } of partitions) {
    if (table !== 'run_usage' || to > cutoff) continue;
    plan.partitions.push({ name, action: 'drop', bytes: await sizeOf(client, name), keepsRuns: 0 });
  }
  plan.strayUsage = await countStrayUsage(client, cutoff);
}
