import type { RunEvent } from '../../core/index.ts';
import type { LogEntry } from '../../log/index.ts';
import type { AuditedRun } from '../auditor.ts';
import { Violation } from './violation.ts';

/** What the commit charges is what ended in it; and all that was ever charged is what ever ended, counted anew. */
export function checkUsage(run: AuditedRun, entry: LogEntry): void {
  const { events } = run.history;
  const ended = events.slice(events.length - entry.rows.length).filter(isPaidFor);
  same(run, 'this commit', entry.usage.map(line), ended.map(lineOf));
  same(run, 'all commits', run.stored.usage.map(line), events.filter(isPaidFor).map(lineOf));
}

/**
 * An attempt that came to an end of its own, well or not (interface.md, Billing). Written from the text, not from the
 * core: nothing is charged for what was skipped, cancelled, or lost in a crash.
 */
function isPaidFor(event: RunEvent): boolean {
  if (event.type === 'step_retrying') return true;
  if (event.type === 'step_completed') return !('skipped' in event.data);
  return event.type === 'step_failed' && event.data.error.code !== 'attempt_lost_repeatedly';
}

const lineOf = (event: RunEvent): string =>
  'step' in event ? `${event.step}#${event.attempt} workflow_step ${event.at}` : event.type;
const line = (usage: LogEntry['usage'][number]): string =>
  `${usage.step}#${usage.attempt} ${usage.action}${usage.quantity === 1 ? '' : ` x${usage.quantity}`} ${usage.at}`;

function same(run: AuditedRun, what: string, charged: string[], ended: string[]): void {
  if (charged.join() !== ended.join())
    throw new Violation('usage', `${run.id}, ${what}: charged [${charged}], but [${ended}] ended`);
}
