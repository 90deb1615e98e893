import {
  type AttemptState,
  isExpanded,
  type RunState,
  type StepState,
} from '@/server/domains/runs/reading/run-state.ts';
import type { GraphStepInput } from '../graph/layout.ts';
import { agentStepsOf } from './agent-steps.ts';
import { dependenciesOf } from './outcome.ts';

/** `inside`: the step's work is shown in the rows below the step. */
export type SegmentKind =
  | 'queued'
  | 'called'
  | 'running'
  | 'completed'
  | 'failed'
  | 'cancelled'
  | 'waiting'
  | 'retry'
  | 'inside';
/** A span of a step's time, in ms since the epoch. */
export type Segment = { kind: SegmentKind; from: number; to: number };
export type TimelineRow = {
  id: string;
  step: StepState;
  segments: Segment[];
  /** The name of a step that an agent added; null for a step of the graph. */
  name: string | null;
  /** The nesting depth below an agent or a loop: 0 for a step of the graph. */
  depth: number;
  /** Whether the step is a loop. The items of a loop can be shown below its row. */
  isLoop: boolean;
};
export type Span = { from: number; to: number };
export type Timeline = Span & { rows: TimelineRow[] };

/**
 * Returns the timeline of a run's steps, ordered by their start; steps that have not started come last. The turns and calls of an
 * agent follow the agent's row. Segments that are in progress end at `now`.
 */
export function timelineOf(
  steps: readonly GraphStepInput[],
  state: RunState,
  startedAt: number,
  now: number,
): Timeline {
  const until = state.endedAt ?? Math.max(now, startedAt);
  const run = { from: startedAt, to: until };
  const added = agentStepsOf(state);
  const rowOf = (spec: GraphStepInput, depth: number): TimelineRow[] => {
    const step = state.steps.get(spec.id);
    if (step === undefined) return [];
    const between = added.has(spec.id) ? 'inside' : step.childRun === null ? 'running' : 'called';
    const segments = segmentsOf({ spec, step, between }, state, run);
    return [
      {
        id: spec.id,
        step,
        segments,
        name: depth === 0 ? null : (spec.name ?? null),
        depth,
        isLoop: isLoopAtWork(spec, step),
      },
    ];
  };
  const authored = steps.flatMap(spec => rowOf(spec, 0));
  const startOf = (row: TimelineRow) => row.segments[0]?.from ?? Number.POSITIVE_INFINITY;
  authored.sort((a, b) => (startOf(a) === startOf(b) ? 0 : startOf(a) - startOf(b)));
  const inner = (agent: string) => (added.get(agent) ?? []).flatMap(spec => rowOf(spec, spec.depth));
  const rows = added.size === 0 ? authored : authored.flatMap(row => [row, ...inner(row.id)]);
  const to = rows.reduce((last, row) => Math.max(last, row.segments.at(-1)?.to ?? 0), until);
  return { from: startedAt, to: Math.max(to, startedAt + 1), rows };
}

const isLoopAtWork = ({ type }: GraphStepInput, { attempts }: StepState) => type === 'for_each' && attempts.length > 0;

/** An item of a loop, with the states of its steps. */
export type TimelineItem = { index: number; steps: readonly StepState[] };

/** Returns the rows below a loop's row: each item, followed by the item's steps. `steps` are the steps inside the loop. */
export function itemRows(
  loop: TimelineRow,
  { steps, items }: { steps: readonly GraphStepInput[]; items: readonly TimelineItem[] },
  run: Span,
): TimelineRow[] {
  const specs = new Map(steps.map(step => [step.id, step]));
  return items.flatMap(item => {
    const rows = item.steps.flatMap(step => {
      const spec = specs.get(step.id.slice(step.id.lastIndexOf('.') + 1));
      if (spec === undefined) return [];
      const segments = attemptSegments({ step, between: step.childRun === null ? 'running' : 'called' }, run);
      const isLoop = isLoopAtWork(spec, step);
      return [{ id: step.id, step, segments, name: spec.name || spec.id, depth: loop.depth + 2, isLoop }];
    });
    const [from, to] = boundsOf(rows);
    const segments: Segment[] = to > from ? [{ kind: 'inside', from, to }] : [];
    const id = `${loop.id}.${item.index}`;
    const state = worstOf(item.steps) ?? loop.step;
    return [
      { id, step: { ...state, id }, segments, name: `Item ${item.index + 1}`, depth: loop.depth + 1, isLoop: false },
      ...rows,
    ];
  });
}

function boundsOf(rows: readonly TimelineRow[]): [from: number, to: number] {
  const all = rows.flatMap(({ segments }) => segments);
  return [Math.min(...all.map(({ from }) => from)), Math.max(...all.map(({ to }) => to))];
}

/** Returns the step whose status represents an item: a failed step, else a step in progress, else the last completed step. */
function worstOf(steps: readonly StepState[]): StepState | undefined {
  return (
    steps.find(({ status, continues }) => status === 'failed' && !continues) ??
    steps.find(({ endedAt }) => endedAt === null) ??
    steps.findLast(({ status }) => status === 'completed') ??
    steps.at(-1)
  );
}

type Drawn = {
  spec: GraphStepInput;
  step: StepState;
  /** The kind of the segment from a completed attempt to the next one. */
  between: 'running' | 'inside' | 'called';
};

function segmentsOf({ spec, step, between }: Drawn, state: RunState, run: Span): Segment[] {
  const segments: Segment[] = [];
  const [first] = step.attempts;
  const ready = readyAt(spec, step, state, run.from);
  if (ready !== null) {
    const to = first?.startedAt ?? run.to;
    if (to > ready) segments.push({ kind: 'queued', from: ready, to });
  }
  return [...segments, ...attemptSegments({ step, between }, run)];
}

function attemptSegments({ step, between }: Omit<Drawn, 'spec'>, run: Span): Segment[] {
  const segments: Segment[] = [];
  let last: AttemptState | undefined;
  for (const attempt of step.attempts) {
    if (last?.endedAt && attempt.startedAt > last.endedAt) {
      // Between two attempts of a step, the steps inside the loop or the called run are in progress.
      const kind = last.outcome === 'completed' ? between : 'retry';
      segments.push({ kind, from: last.endedAt, to: attempt.startedAt });
    }
    segments.push({ kind: kindOf(step, attempt), from: attempt.startedAt, to: attempt.endedAt ?? run.to });
    last = attempt;
  }
  if (step.status === 'retrying' && last?.endedAt) segments.push({ kind: 'retry', from: last.endedAt, to: run.to });
  if (last?.endedAt && (isExpanded(step) || between === 'inside')) {
    // A failed or stopped agent has no attempt after its last turn.
    const to = step.endedAt ?? run.to;
    if (to > last.endedAt) segments.push({ kind: between, from: last.endedAt, to });
  }
  return segments;
}

/** Returns when the last dependency of a step ended. Null if a dependency has not ended, or the step was never ready. */
function readyAt(spec: GraphStepInput, step: StepState, state: RunState, startedAt: number): number | null {
  if (step.attempts.length === 0 && step.status !== 'pending' && step.status !== 'ready') return null;
  if (step.attempts.length === 0 && state.endedAt !== null) return null;
  let ready = startedAt;
  for (const id of dependenciesOf(spec)) {
    const before = state.steps.get(id);
    if (!before) continue;
    if (before.endedAt === null) return null;
    ready = Math.max(ready, before.endedAt);
  }
  return ready;
}

function kindOf(step: StepState, { outcome }: AttemptState): SegmentKind {
  // A task waits for a person, even if the run ended before the answer.
  if (step.taskName !== null && outcome !== 'failed') return 'waiting';
  switch (outcome) {
    case 'running':
    case 'waiting':
    case 'completed':
    case 'failed':
    case 'cancelled':
      return outcome;
    case 'lost':
      return 'cancelled';
  }
}

/** The width of a folded gap, as a share of the timeline's width. */
const FOLDED_SHARE = 0.04;
/** The minimum size of a gap that is folded: a share of the timeline, and a duration. */
const MIN_GAP_SHARE = 0.1;
const MIN_GAP_MS = 1_000;

const idle: ReadonlySet<SegmentKind> = new Set(['waiting', 'retry', 'queued', 'inside']);

/** Returns the spans in which no step ran, because all steps waited for people, for a retry or in a queue. */
export function gapsOf({ from, to, rows }: Timeline): Span[] {
  const busy: Span[] = rows
    .flatMap(row => row.segments)
    .filter(({ kind }) => !idle.has(kind))
    .sort((a, b) => a.from - b.from);
  const minimum = Math.max(MIN_GAP_MS, (to - from) * MIN_GAP_SHARE);
  const gaps: Span[] = [];
  let at = from;
  for (const span of [...busy, { from: to, to }]) {
    if (span.from - at >= minimum) gaps.push({ from: at, to: span.from });
    at = Math.max(at, span.to);
  }
  return gaps;
}

/** Returns a function that maps an instant to a position from 0 to 1. Each of `gaps` has the width `FOLDED_SHARE`. */
export function scaleOf({ from, to }: Span, gaps: readonly Span[]): (at: number) => number {
  const idle = gaps.reduce((sum, gap) => sum + gap.to - gap.from, 0);
  const perMs = (1 - gaps.length * FOLDED_SHARE) / Math.max(1, to - from - idle);
  return at => {
    let place = 0;
    let reached = from;
    for (const gap of gaps) {
      if (at <= gap.from) break;
      place += (gap.from - reached) * perMs;
      reached = gap.to;
      place += FOLDED_SHARE * Math.min(1, (at - gap.from) / (gap.to - gap.from));
    }
    if (at > reached) place += (at - reached) * perMs;
    return Math.min(1, Math.max(0, place));
  };
}
