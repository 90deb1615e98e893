import { isExpanded, type RunState, type StepState } from '@/server/domains/runs/reading/run-state.ts';
import type { GraphStepInput } from '../graph/layout.ts';
import { INSUFFICIENT_CREDITS } from './credit-shortage.tsx';
import { stepNames } from './step-names.tsx';

/** Something that a run waits for. `at`: the end of a timer, or else the start of the wait, in ms since the epoch. */
export type Awaited =
  | { kind: 'person'; id: string; name: string; at: number | null }
  | { kind: 'timer' | 'retry'; id: string; name: string; at: number | null }
  | { kind: 'call'; id: string; name: string; run: { run_id: string; workflow_id: string } }
  | { kind: 'limit'; id: string; name: string; most: number }
  | { kind: 'credits' | 'budget' | 'pause'; id: string; name: string };

/** Returns what a run waits for now: people first, then timers, called runs and limits. Empty for a run that has ended. */
export function awaitedBy(state: RunState, steps: readonly GraphStepInput[]): Awaited[] {
  if (state.status !== 'running' && state.status !== 'paused') return [];
  const specs = new Map(steps.map(step => [step.id, step]));
  const called = stepNames(steps);
  const found: Awaited[] = [];
  for (const step of state.steps.values()) {
    if (step.endedAt !== null) continue;
    const name = step.taskName || called(step.id);
    const awaited = awaitedByStep(state, step, name, specs.get(step.id));
    if (awaited !== null) found.push(awaited);
  }
  if (state.status === 'paused') found.push({ kind: pauseKind(state.pauseReason), id: '', name: '' });
  return found.sort((a, b) => ORDER[a.kind] - ORDER[b.kind]);
}

const ORDER: Record<Awaited['kind'], number> = {
  credits: 0,
  budget: 0,
  pause: 0,
  person: 1,
  timer: 2,
  retry: 3,
  call: 4,
  limit: 5,
};

function awaitedByStep(
  state: RunState,
  step: StepState,
  name: string,
  spec: GraphStepInput | undefined,
): Awaited | null {
  const { id, status, dueAt, childRun } = step;
  // A loop waits for its steps, and may have reached its own limit of concurrent items.
  if (isExpanded(step) && spec?.type === 'for_each') {
    const { concurrency } = spec as { concurrency?: unknown };
    const most = typeof concurrency === 'number' ? concurrency : DEFAULT_CONCURRENCY;
    return openItems(state, id) < most ? null : { kind: 'limit', id, name, most };
  }
  if (status === 'waiting') return { kind: 'person', id, name, at: step.attempts.at(-1)?.startedAt ?? null };
  if (status === 'sleeping') return { kind: 'timer', id, name, at: dueAt };
  if (status === 'retrying') return { kind: 'retry', id, name, at: dueAt };
  return isExpanded(step) && childRun !== null ? { kind: 'call', id, name, run: childRun } : null;
}

/** docs/specification/steps.md#for_each */
const DEFAULT_CONCURRENCY = 1;

function openItems({ steps }: RunState, loop: string): number {
  const items = new Set<string>();
  for (const { id, endedAt } of steps.values()) {
    if (endedAt === null && id.startsWith(`${loop}.`)) items.add(id.slice(loop.length + 1).split('.')[0] ?? '');
  }
  return items.size;
}

function pauseKind(reason: string | null): 'credits' | 'budget' | 'pause' {
  if (reason === INSUFFICIENT_CREDITS) return 'credits';
  return reason === 'budget_spent' ? 'budget' : 'pause';
}
