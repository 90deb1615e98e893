import type { Logger } from '../../platform/logger.ts';
import { inOwnSession } from '../../platform/postgres/own-session.ts';
import { transactOn } from '../../platform/postgres/transaction.ts';
import { addUsage, deleteSums, nextBatch } from './fold-store.ts';
import { lockProgress } from './progress-store.ts';
import { SESSION } from './session.ts';

/** `since`: where usage begins that retention has not let go of (ms since the epoch; null = all); what is older stays as it is. */
export type RebuildResult = { rows: number; since: number | null };

/**
 * Makes the sums anew from usage, of one project or of all: everything that is folded so far, in one transaction. Whoever asks
 * meanwhile is answered from the sums of before; folding goes on afterwards. Null where the runs of before have not been
 * counted yet, so that there is nothing to rebuild.
 */
export function rebuild(url: string, projectId: string | null, logger: Logger): Promise<RebuildResult | null> {
  return inOwnSession(url, { name: SESSION }, client =>
    transactOn(client, 'ordinary', async db => {
      const progress = await lockProgress(db, { wait: true });
      if (progress === null || progress.readySeq === null) return null;
      const since = progress.usageFrom === null ? null : new Date(progress.usageFrom);
      await deleteSums(db, since, projectId);
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
