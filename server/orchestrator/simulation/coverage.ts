/** How often each thing happened that the simulation is meant to meet: one that it never meets is not tested. */
export class Coverage {
  readonly counts = new Map<string, number>();

  count(what: string, times = 1): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + times);
  }

  of(what: string): number {
    return this.counts.get(what) ?? 0;
  }

  add(other: Coverage): void {
    for (const [what, times] of other.counts) this.count(what, times);
  }
}

/** All that the short form of the simulation must have met at least once. */
export const EXPECTED = [
  // ends
  'run completed',
  'run failed',
  'run stopped',
  'run as undisturbed',
  'skip blocked',
  'skip run_stopped',
  'skip branch_not_taken',
  'skip step_disabled',
  'skip out_of_scope',
  'cancel run_failed',
  'cancel RUN_STOPPED',
  // what happens in between
  'step_retrying',
  'step_log',
  'task_pending',
  'task_completed',
  'task timed out: fail',
  'task timed out: answered',
  'paused',
  'resumed',
  'stop_requested',
  'step timed out',
  'attempt lost',
  'step failed: attempt_lost_repeatedly',
  'step failed: not_storable',
  'step failed: result_not_json',
  'step failed: result_too_large',
  'step failed: unknown_step_type',
  'step failed: internal_error',
  'log cut at 64 KiB',
  'value kept apart',
  'outcome after the abort',
  'step failed: insufficient_credits',
  'paused: insufficient_credits',
  'credits granted',
  'credits read again',
  '80 % of the credits used',
  '100 % of the credits used',
  // faults
  'crash between turns',
  'crash at a seam',
  'crash by a step',
  'takeover',
  'leader beside the leader',
  'frozen process',
  'session ended by the database',
  'commit of a dead process applied',
  'commit applied, answer lost',
  'commit not applied, session lost',
  'commit hangs',
  'commit refused: disk full',
  'slow commit',
  'batch of many',
  'batch behind a batch',
  'session lost with two batches under way',
  'commit of a lost session applied',
  'batch bisected',
  'fence: events',
  'fence: runs',
  'progress left out',
  'graceful shutdown',
  'graceful shutdown with work in flight',
  'reading failed',
  'credits not readable',
  'graph not readable',
  'slow read',
  'clock set back',
  'clock set forward',
  'clock stands still',
  'stream interrupted',
  // callers
  'start answered',
  'command answered',
  'task answered',
  'command sent twice',
  'command held already',
  'wrong tenant',
  'unknown run',
  'start refused by the database',
  'refused 409 run_already_ended',
  'refused 409 run_stopping',
  'refused 409 task_already_completed',
  'refused 409 task_not_pending',
  'refused 409 run_id_taken',
  'refused 422 not_storable',
  'refused 422 insufficient_credits',
  'refused 429 too_many_active_runs',
  'refused 503 overloaded',
  'refused 503 run_contended',
  'refused 503 unavailable',
  'refused 503 not_leading',
  'left memory',
  'slot limit of a tenant reached',
  'slot limit of all reached',
  'tenant waits for its turn',
  'slot guaranteed beyond the limit of all',
  'call kept its slot',
] as const;
