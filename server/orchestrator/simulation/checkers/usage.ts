import type { RunEvent } from '../../core/index.ts';
import type { LogEntry, UsageRow } from '../../log/index.ts';
import type { AuditedRun } from '../auditor.ts';
import { Violation } from './violation.ts';

/**
 * Checks that the commit charges the attempts that ended in it, and that the total charge equals the recomputed total.
 */
export function checkUsage(run: AuditedRun, entry: LogEntry): void {
  const { events } = run.history;
  const ended = eventsOf(run, entry).filter(isPaidFor);
  requireSame(run, 'this commit', lines(entry.usage), ended.flatMap(linesOf));
  requireSame(run, 'all commits', lines(run.stored.usage), events.filter(isPaidFor).flatMap(linesOf));
}

/** Returns the events of the commit that was just written, which may have fewer rows. */
export function eventsOf({ history }: AuditedRun, { rows }: LogEntry): RunEvent[] {
  return history.events.slice((rows[0]?.seq ?? history.events.length + 1) - 1);
}

/**
 * Whether an attempt ended by itself, successfully or not (docs/specification/billing.md#charges). Written from the
 * specification, not from the core: steps that were skipped, cancelled, lost in a crash, or not started for lack of
 * credits are not charged.
 */
export function isPaidFor(event: RunEvent): boolean {
  if (event.type === 'step_retrying') return true;
  if (event.type === 'step_completed') return !('skipped' in event.data);
  if (event.type === 'step_failed' && event.data.caused_by_step_id !== undefined) return false;
  return event.type === 'step_failed' && !UNPAID.includes(event.data.error.code);
}

const UNPAID: readonly string[] = ['attempt_lost_repeatedly', 'insufficient_credits', 'run_quarantined'];

/** Returns the usage of the step itself and of its attempt. */
function linesOf(event: RunEvent): string[] {
  if (!('step' in event)) return [event.type];
  const used = 'consumed' in event.data ? (event.data.consumed ?? []) : [];
  return [{ action: 'workflow_step', quantity: 1 }, ...used].map(
    ({ action, quantity }) => `${action} x${quantity} ${event.step}#${event.attempt} ${event.at}`,
  );
}

/** Returns the charged usage, without the starts and ends of runs. */
function lines(usage: readonly UsageRow[]): string[] {
  return usage
    .filter(({ action }) => action !== 'run_started' && action !== 'run_ended')
    .map(({ action, quantity, line: [step, attempt], at }) => `${action} x${quantity} ${step}#${attempt} ${at}`);
}

function requireSame(run: AuditedRun, what: string, charged: string[], ended: string[]): void {
  if (charged.join() !== ended.join())
    throw new Violation('usage', `${run.id}, ${what}: charged [${charged}], but [${ended}] ended`);
}
