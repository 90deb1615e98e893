import { effects, type Graph, phase, type RunEvent, type RunState } from '../../orchestrator/core/index.ts';

/** A log as it was once written, and the expected state after some of its events. */
export type Golden = { graph: Graph; events: RunEvent[]; expected: { seq: number; state: unknown }[] };

/** Returns everything that the service relies on after a replay. */
export function summary(state: RunState) {
  const { ready, inFlight, timers } = effects(state);
  return {
    status: state.status,
    phase: phase(state),
    error: state.error,
    done: state.done,
    // Absent in logs from before there were credits.
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
          // Absent in logs from before attempts had the term of their leader.
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
