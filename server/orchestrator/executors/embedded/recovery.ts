import type { LogReader } from '../../log/index.ts';
import type { Runtime } from './runtime.ts';

const PAGE = 500;

/**
 * Takes up the runs that had not ended (engine.md, Recovery): first the timers of those that only wait, which stay in
 * the log, then the others, newest first, folded page by page. Stops when `signal` aborts.
 */
export async function recoverRuns(
  reader: LogReader,
  runtime: Runtime,
  signal: AbortSignal,
): Promise<{ recovered: number }> {
  const wakes = await reader.wakes();
  if (!signal.aborted) for (const { runId, dueAt } of wakes) runtime.setWake(runId, dueAt);
  let recovered = 0;
  let before: string | null = null;
  for (;;) {
    const page: string[] = await reader.movingRuns(before, PAGE);
    if (signal.aborted || page.length === 0) return { recovered };
    await Promise.all(page.map(runId => runtime.recover(runId)));
    recovered += page.length;
    before = page.at(-1) ?? null;
  }
}
