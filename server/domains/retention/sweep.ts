import type { ClientBase } from 'pg';
import type { Logger } from '../../platform/logger.ts';
import { inOwnSession } from '../../platform/postgres/own-session.ts';
import { listPartitions, type Partition } from '../../platform/postgres/partitions.ts';
import { deleteUsageRollups, permitUsagePurge, recordRunPurge } from './analytics-store.ts';
import { deleteAuditEntries } from './audit-store.ts';
import { deleteExpiredRuns, deleteRejections, deleteStrayUsage } from './expired-runs-store.ts';
import { deleteNotificationDeliveries } from './notification-store.ts';
import { type Disposal, dropUsage, purgePartition } from './partition-store.ts';
import type { Cutoffs } from './policy.ts';
import { deleteClosedProposals, deleteRounds } from './proposal-store.ts';
import { type IdRange, pastPartitions, sweptRanges } from './ranges.ts';
import { SESSION } from './session.ts';
import { deleteSnapshots } from './snapshot-store.ts';
import { tryRetentionLock, vacuumRuns } from './sweep-store.ts';
import { deleteTrials } from './trial-store.ts';

/** The result of a pass. `postponed` partitions are unchanged, and tried again in the next pass. */
export type RetentionResult = {
  busy: boolean;
  runs: number;
  rejections: number;
  /** The snapshots of test runs. */
  snapshots: number;
  strayUsage: number;
  /** The entries of the audit log. */
  auditEntries: number;
  /** The deliveries of notifications. */
  notifications: number;
  dropped: string[];
  rewritten: string[];
  postponed: { name: string; reason: string }[];
};

export type SweepOptions = {
  /** The database's address. The pass uses its own session, because those of the pool have short timeouts. */
  url: string;
  logger: Logger;
  cutoffs: Cutoffs;
  /** Ms since the epoch. */
  now: number;
  /** Called after each committed step: pauses so that others can use the disk, and ends the pass by throwing. */
  pause: () => Promise<void>;
  /** Ends the pass immediately, even during a statement, which then has no effect. */
  signal?: AbortSignal;
};

/**
 * The number of deleted rows above which the space is made reusable immediately, and the index is cleaned for the
 * queries that follow.
 */
const VACUUM_FROM = 10_000;

/**
 * Purges expired data: first the rows of runs, in small batches, after which nothing reads these runs; then their logs,
 * by partition. Every step is complete in itself, so the next pass finishes a pass that was killed.
 */
export async function sweep(options: SweepOptions): Promise<RetentionResult> {
  const result: RetentionResult = {
    busy: false,
    runs: 0,
    rejections: 0,
    snapshots: 0,
    strayUsage: 0,
    auditEntries: 0,
    notifications: 0,
    dropped: [],
    rewritten: [],
    postponed: [],
  };
  return inOwnSession(options.url, { ...SESSION, signal: options.signal }, async client => {
    if (!(await tryRetentionLock(client))) return { ...result, busy: true };
    const partitions = await listPartitions(client);
    const { runs, usage, audit } = options.cutoffs;
    if (runs !== null) await sweepRuns(client, partitions, runs, options, result);
    if (usage !== null) await sweepUsage(client, partitions, usage, options, result);
    if (audit !== null) await sweepAuditLog(client, audit, options, result);
    return result;
  });
}

async function sweepRuns(
  client: ClientBase,
  partitions: readonly Partition[],
  cutoff: number,
  { pause, now, logger }: SweepOptions,
  result: RetentionResult,
): Promise<void> {
  await recordRunPurge(client, cutoff);
  for (const range of sweptRanges(partitions, cutoff)) {
    for (let rest: IdRange | null = range; rest !== null; ) {
      const batch: Awaited<ReturnType<typeof deleteExpiredRuns>> = await deleteExpiredRuns(client, rest, cutoff);
      result.runs += batch.deleted;
      rest = batch.rest;
      if (batch.deleted > 0) await pause();
    }
  }
  for (let deleted = await deleteRejections(client, cutoff, now); deleted > 0; ) {
    result.rejections += deleted;
    await pause();
    deleted = await deleteRejections(client, cutoff, now);
  }
  for (let deleted = await deleteSnapshots(client, cutoff); deleted > 0; ) {
    result.snapshots += deleted;
    await pause();
    deleted = await deleteSnapshots(client, cutoff);
  }
  while ((await deleteClosedProposals(client, cutoff)) > 0) await pause();
  while ((await deleteRounds(client, cutoff)) > 0) await pause();
  while ((await deleteTrials(client, cutoff)) > 0) await pause();
  for (let deleted = await deleteNotificationDeliveries(client, cutoff); deleted > 0; ) {
    result.notifications += deleted;
    await pause();
    deleted = await deleteNotificationDeliveries(client, cutoff);
  }
  if (result.runs >= VACUUM_FROM) await vacuumRuns(client);
  for (const partition of pastPartitions(partitions, cutoff)) {
    await account(partition, await purgePartition(client, partition), pause, logger, result);
  }
}

async function sweepUsage(
  client: ClientBase,
  partitions: readonly Partition[],
  cutoff: number,
  { pause, logger }: SweepOptions,
  result: RetentionResult,
): Promise<void> {
  const past = partitions.filter(({ table, to }) => table === 'run_usage' && to <= cutoff);
  if (!(await permitUsagePurge(client, cutoff))) {
    for (const partition of past)
      await account(partition, { outcome: 'postponed', reason: 'not_counted' }, pause, logger, result);
    return;
  }
  for (const partition of past) {
    await account(partition, await dropUsage(client, partition), pause, logger, result);
  }
  for (let deleted = await deleteStrayUsage(client, cutoff); deleted > 0; ) {
    result.strayUsage += deleted;
    await pause();
    deleted = await deleteStrayUsage(client, cutoff);
  }
  // Usage that still exists must stay in the rollups.
  if (result.postponed.some(({ name }) => past.some(partition => partition.name === name))) return;
  for (let deleted = await deleteUsageRollups(client, cutoff); deleted > 0; ) {
    await pause();
    deleted = await deleteUsageRollups(client, cutoff);
  }
}

async function sweepAuditLog(
  client: ClientBase,
  cutoff: number,
  { pause }: SweepOptions,
  result: RetentionResult,
): Promise<void> {
  for (let deleted = await deleteAuditEntries(client, cutoff); deleted > 0; ) {
    result.auditEntries += deleted;
    await pause();
    deleted = await deleteAuditEntries(client, cutoff);
  }
}

async function account(
  { name }: Partition,
  disposal: Disposal,
  pause: () => Promise<void>,
  logger: Logger,
  result: RetentionResult,
): Promise<void> {
  switch (disposal.outcome) {
    case 'kept':
      return;
    case 'postponed':
      result.postponed.push({ name, reason: disposal.reason });
      logger.warn({ partition: name, reason: disposal.reason }, 'a partition could not be dropped; trying again later');
      return;
    case 'dropped':
    case 'rewritten':
      result[disposal.outcome].push(name);
      logger.info({ partition: name }, `partition ${disposal.outcome} by retention`);
      await pause();
  }
}
