import type { RunEvent } from '../../core/index.ts';
import type { LogEntry, UsageRow } from '../../log/index.ts';
import type { AuditedRun } from '../auditor.ts';
import { Violation } from './violation.ts';

/** What the commit charges is what ended in it; and all that was ever charged is what ever ended, counted anew. */
export function checkUsage(run: AuditedRun, entry: LogEntry): void {
  const { events } = run.history;
  const ended = events.slice(events.length - entry.rows.length).filter(isPaidFor);
  same(run, 'this commit', entry.usage.map(line), ended.flatMap(linesOf));
  same(run, 'all commits', run.stored.usage.map(line), events.filter(isPaidFor).flatMap(linesOf));
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

/** The step itself, and what its attempt used. */
function linesOf(event: RunEvent): string[] {
  if (!('step' in event)) return [event.type];
  const used = 'consumed' in event.data ? (event.data.consumed ?? []) : [];
  return [{ action: 'workflow_step', quantity: 1 }, ...used].map(({ action, quantity }) =>
    line({ step: event.step, attempt: event.attempt ?? 0, action, quantity, at: event.at } as UsageRow),
  );
}
const line = (usage: UsageRow): string =>
  `${usage.step}#${usage.attempt} ${usage.action}${usage.quantity === 1 ? '' : ` x${usage.quantity}`} ${usage.at}`;

function same(run: AuditedRun, what: string, charged: string[], ended: string[]): void {
  if (charged.join() !== ended.join())
    throw new Violation('usage', `${run.id}, ${what}: charged [${charged}], but [${ended}] ended`);
}
