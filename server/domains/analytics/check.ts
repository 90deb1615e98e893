import { LOST_REPEATEDLY } from '../../orchestrator/core/attempts.ts';
import { INSUFFICIENT_CREDITS } from '../../orchestrator/core/ending.ts';
import { RUN_QUARANTINED } from '../../orchestrator/core/quarantine.ts';
import { QUARTER_HOUR_MS } from '../../platform/clock.ts';
import { inOwnSession } from '../../platform/postgres/own-session.ts';
import { transactOn } from '../../platform/postgres/transaction.ts';
import { bucketOf, QUARTER } from './buckets.ts';
import { compareGrains, compareUsage, type Difference } from './comparison-store.ts';
import { readProgress } from './progress-store.ts';
import { compareWithRuns, readStepsSince } from './recount-store.ts';
import { SESSION } from './session.ts';

/** Failures that are never billed (core/metering.ts): attempts lost in crashes, or never started for lack of credits. */
const NEVER_BILLED = [LOST_REPEATEDLY, INSUFFICIENT_CREDITS, RUN_QUARANTINED];

/**
 * `since`: the time from which rollups were compared with runs (ms since the epoch; null = all); older rollups were
 * only compared with each other. `stepsSince`: the same for rollups of steps.
 */
export type CheckResult = { since: number | null; stepsSince: number | null; differences: Difference[] };

/**
 * Recounts everything from runs and the event log and compares it with the rollups, as of one instant, while the server
 * runs and without blocking it. Null if runs from before an upgrade have not been counted yet. Reports at most `most`
 * differences.
 */
export function check(url: string, limit: number): Promise<CheckResult | null> {
  return inOwnSession(url, { name: SESSION }, client =>
    transactOn(client, 'snapshot', async db => {
      const { readySeq, runsFrom, usageFrom, seq } = await readProgress(db);
      if (readySeq === null || seq < readySeq) return null;
      const since = runsFrom === null ? null : bucketOf(QUARTER, runsFrom + QUARTER_HOUR_MS - 1);
      const stepsSince = await readStepsSince(db);
      const recount = { since: since === null ? null : new Date(since), stepsSince, seq, codes: NEVER_BILLED };
      const ofRuns = await compareWithRuns(db, recount, limit);
      const ofGrains = await compareGrains(db, limit - ofRuns.length);
      const found = [...ofRuns, ...ofGrains];
      found.push(...(await compareUsage(db, { seq, usageFrom }, limit - found.length)));
      return { since, stepsSince: stepsSince?.getTime() ?? null, differences: found };
    }),
  );
}
