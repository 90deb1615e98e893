import type { GroupCommitLog } from '../../log/index.ts';
import type { ProgressSweep } from '../../turn/progress.ts';
import type { LoadSuspects } from './load-suspects.ts';
import type { TurnQueue } from './turn-queue.ts';

type Parts = {
  behind: ProgressSweep;
  suspects: LoadSuspects;
  turns: TurnQueue;
  log: GroupCommitLog;
  defer: (callback: () => void) => void;
  /** Whether nothing is written any more. */
  isOver: () => boolean;
};

/** Has everything decided and written that is pending. Settles when all of it is on disk. */
export async function flush({ behind, suspects, turns, log, defer, isOver }: Parts): Promise<void> {
  behind.catchUpAll();
  await suspects.close();
  do {
    turns.endRests();
    await new Promise<void>(resolve => defer(resolve));
    await log.drain();
  } while (turns.isVisitDue && !isOver());
}
