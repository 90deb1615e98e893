import type { StreamItem } from '../../../contract/orchestrator.ts';
import type { Services } from '../../../contract/services.ts';
import { AppError } from '../../../platform/errors.ts';
import { endsRun } from '../../runs/event-selection.ts';
import type { RunScope } from '../../runs/store.ts';

/**
 * Stops a run as soon as what it has charged exceeds `budget`, in microcredits: it passes that by what its steps in flight cost. Watches
 * as long as this process executes the run. To be called before the run starts.
 */
export function spendAtMost(
  { orchestrator, logger }: Pick<Services, 'orchestrator' | 'logger'>,
  run: RunScope,
  { budget, by }: { budget: number; by: string },
): () => void {
  let spent = 0;
  const unsubscribe = orchestrator.subscribe(run, onItems, () => unsubscribe());
  function onItems(items: StreamItem[]): void {
    for (const item of items) spent += creditsOf(item);
    const isOver = spent > budget;
    const hasEnded = items.some(endsRun);
    if (isOver || hasEnded) unsubscribe();
    if (!isOver || hasEnded) return;
    // Not from within the listener: the entry that it tells of is still being handed over.
    queueMicrotask(() => void stop());
  }
  const stop = () =>
    orchestrator.command(run, { type: 'stop', mode: 'immediate', by }).catch((error: unknown) => {
      // It has ended meanwhile.
      if (error instanceof AppError && error.status < 500) return;
      logger.error({ err: error, run_id: run.runId }, 'a trial over its budget could not be stopped');
    });
  return unsubscribe;
}

function creditsOf({ kind, item }: StreamItem): number {
  if (kind !== 'event') return 0;
  const { data } = item.event;
  return 'credits' in data && typeof data.credits === 'number' ? data.credits : 0;
}
