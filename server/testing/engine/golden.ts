import { effects, type Graph, phase, type RunEvent, type RunState } from '../../orchestrator/core/index.ts';

/** A log as an earlier release wrote it, and the expected state after some of its events. */
export type Golden = { graph: Graph; events: RunEvent[]; expected: { seq: number; state: unknown }[] };

/** One line of a golden log: the graph at first, then each event, and after some of these the expected state. */
type Line = { graph: Graph } | { expected: Golden['expected'][number] } | RunEvent;

/** Writes a golden log as NDJSON, so that a difference between two of them is a difference between lines. */
export function formatGolden({ graph, events, expected }: Golden): string {
  const after = new Map(expected.map(each => [each.seq, each]));
  const lines: Line[] = [{ graph }];
  for (const [index, event] of events.entries()) {
    lines.push(event);
    const state = after.get(index + 1);
    if (state !== undefined) lines.push({ expected: state });
  }
  return lines.map(line => `${JSON.stringify(line)}\n`).join('');
}

/** Reads what `formatGolden` wrote. */
export function parseGolden(text: string): Golden {
  const [first, ...lines] = text
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line) as Line);
  if (first === undefined || !('graph' in first)) throw new Error('a golden log begins with its graph');
  return {
    graph: first.graph,
    events: lines.filter((line): line is RunEvent => 'type' in line),
    expected: lines.flatMap(line => ('expected' in line ? [line.expected] : [])),
  };
}

/** Returns everything that the service relies on after a replay. */
export function summary(state: RunState) {
  const { ready, inFlight, timers } = effects(state);
  return {
    status: state.status,
    phase: phase(state),
    error: state.error,
    done: state.done,
    // Absent in logs from before credits were recorded.
    ...(state.credits > 0 && { credits: state.credits }),
    results: [...state.results],
    steps: Object.fromEntries(
      [...state.steps].map(([id, step]) => [
        id,
        [
          step.status,
          step.attempt,
          step.failures,
          step.lost,
          step.skipReason ?? null,
          // Absent in logs from before attempts recorded the term of their leader.
          ...(step.lostIn === undefined ? [] : [step.lostIn]),
          // Absent in logs from before a run could continue after a failure.
          ...(step.error === undefined ? [] : [step.error]),
        ],
      ]),
    ),
    ready: [...ready],
    inFlight: [...inFlight],
    timers: [...timers],
  };
}
