import type { RunProjection } from '../../orchestrator/log/index.ts';

/** Returns the projection of an active run without events; `more` lists the differences. */
export const runProjection = (more: Partial<RunProjection> = {}): RunProjection => ({
  status: 'running',
  phase: 'executing',
  stepsDone: 0,
  stepsSkipped: 0,
  pendingTasks: 0,
  endedAt: null,
  error: null,
  nextTimerAt: null,
  lastSeq: 0,
  credits: 0,
  ...more,
});
