import type { Logger } from '../../platform/logger.ts';
import { inOwnSession } from '../../platform/postgres/own-session.ts';
import { transactOn } from '../../platform/postgres/transaction.ts';
import { addUsage, deleteRollups, nextBatch } from './aggregate-store.ts';
import { lockProgress } from './progress-store.ts';
import { SESSION } from './session.ts';

/** `since`: the start of the usage that retention has not purged (ms since the epoch; null = all). Older rollups stay unchanged. */
export type RebuildResult = { rows: number; since: number | null };

/**
 * Rebuilds the rollups of one project or of all from the usage aggregated so far, in one transaction. Until it commits,
 * answers come from the old rollups; aggregation continues afterwards. Returns null if older runs are not backfilled
 * yet.
 */
export function rebuild(url: string, projectId: string | null, logger: Logger): Promise<RebuildResult | null> {
  return inOwnSession(url, { name: SESSION }, client =>
    transactOn(client, 'ordinary', async db => {
      const progress = await lockProgress(db, { wait: true });
      if (progress === null || progress.readySeq === null) return null;
      const since = progress.usageFrom === null ? null : new Date(progress.usageFrom);
      await deleteRollups(db, since, projectId);
      let rows = 0;
      for (let after = 0; ; ) {
        const batch = await nextBatch(db, after, progress.seq);
        if (batch === null) break;
        await addUsage(db, [after, batch.upTo, since, projectId]);
        rows += batch.rows;
        after = batch.upTo;
        logger.debug({ seq: after, of: progress.seq }, 'analytics rebuilding');
      }
      return { rows, since: progress.usageFrom };
    }),
  );
}
