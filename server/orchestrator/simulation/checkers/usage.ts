import type { RunEvent } from '../../core/index.ts';
import type { LogEntry, UsageRow } from '../../log/index.ts';
import type { AuditedRun } from '../auditor.ts';
import { Violation } from './violation.ts';

/** Checks that the commit charges what ended in it, and that the total charge is the recomputed total of all ends. */
export function checkUsage(run: AuditedRun, entry: LogEntry): void {
  const { events } = run.history;
  const ended = events.slice(events.length - entry.rows.length).filter(isPaidFor);
  same(run, 'this commit', lines(entry.usage), ended.flatMap(linesOf));
  same(run, 'all commits', lines(run.stored.usage), events.filter(isPaidFor).flatMap(linesOf));
}

/**
 * An attempt that came to an end of its own, well or not (docs/specification/billing.md#charges). Written from the
 * text, not from the core: nothing is charged for what was skipped, cancelled, lost in a crash, or not begun for want
 * of credits.
 */
export function isPaidFor(event: RunEvent): boolean {
  if (event.type === 'step_retrying') return true;
  if (event.type === 'step_completed') return !('skipped' in event.data);
  if (event.type === 'step_failed' && event.data.caused_by_step_id !== undefined) return false;
  return event.type === 'step_failed' && !UNPAID.includes(event.data.error.code);
}

const UNPAID: readonly string[] = ['attempt_lost_repeatedly', 'insufficient_credits', 'run_quarantined'];

/** The step itself, and what its attempt used. */
function linesOf(event: RunEvent): string[] {
  if (!('step' in event)) return [event.type];
  const used = 'consumed' in event.data ? (event.data.consumed ?? []) : [];
  return [{ action: 'workflow_step', quantity: 1 }, ...used].map(
    ({ action, quantity }) => `${action} x${quantity} ${event.step}#${event.attempt} ${event.at}`,
  );
}

/** Charged usage; the starts and ends of runs are counted beside it. */
function lines(usage: readonly UsageRow[]): string[] {
  return usage
    .filter(({ action }) => action !== 'run_started' && action !== 'run_ended')
    .map(({ action, quantity, line: [step, attempt], at }) => `${action} x${quantity} ${step}#${attempt} ${at}`);
}

function same(run: AuditedRun, what: string, charged: string[], ended: string[]): void {
  if (charged.join() !== ended.join())
    throw new Violation('usage', `${run.id}, ${what}: charged [${charged}], but [${ended}] ended`);
}
