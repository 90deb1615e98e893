import type { RunEvent } from '../../core/index.ts';
import type { AuditedRun } from '../auditor.ts';
import { Violation } from './violation.ts';

const fail = (message: string) => new Violation('descendants', message);

export type DescendantLimits = { maxDescendants: number; maxActiveDescendants: number };
type Known = {
  runs: ReadonlyMap<string, AuditedRun> /** Null while two processes may have counted. */;
  limits: DescendantLimits | null;
};

/**
 * Checks a run that starts beneath another one: it names the run at the top, and no more runs are beneath the top than
 * the limits allow, even if the leader has changed.
 */
export function checkDescendants(runId: string, event: RunEvent, { runs, limits }: Known): void {
  if (event.type !== 'run_started' || event.data.parent === undefined) return;
  const root = topOf(runs, event.data.parent.run_id);
  if (event.data.parent.root !== root) throw fail(`${runId} is beneath ${root}, not ${event.data.parent.root}`);
  if (limits === null) return;
  const others = [...runs.values()].filter(({ id }) => id !== runId && id !== root && topOf(runs, id) === root);
  const active = others.filter(({ history }) => !history.isTerminal);
  if (others.length + 1 > limits.maxDescendants) throw fail(`${others.length + 1} runs were started beneath ${root}`);
  if (active.length + 1 > limits.maxActiveDescendants)
    throw fail(`${active.length + 1} runs are active beneath ${root}`);
}

/** Follows the calls up to a run that no other run called, and from there to the run on whose behalf it was started. */
function topOf(runs: Known['runs'], runId: string): string {
  const { parent, beneath } = runs.get(runId)?.history.started ?? {};
  return parent === undefined ? (beneath?.root_run_id ?? runId) : topOf(runs, parent.run_id);
}
