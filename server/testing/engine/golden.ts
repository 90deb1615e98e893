import { effects, type Graph, phase, type RunEvent, type RunState } from '../../orchestrator/core/index.ts';

/** A log as it was once written, and what is to be read from it after some of its events. */
export type Golden = { graph: Graph; events: RunEvent[]; expected: { seq: number; state: unknown }[] };

/** All that the service relies on after a replay. */
export function summary(state: RunState) {
  const { ready, inFlight, timers } = effects(state);
  return {
    status: state.status,
    phase: phase(state),
    error: state.error,
    done: state.done,
    // Absent in the logs from before there were credits.
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
          // Absent in the logs from before attempts said in which term they began.
          ...(step.lostIn === undefined ? [] : [step.lostIn]),
          // Absent in the logs from before a run could go on after a failure.
          ...(step.error === undefined ? [] : [step.error]),
        ],
      ]),
    ),
    ready: [...ready],
    inFlight: [...inFlight],
    timers: [...timers],
  };
}
