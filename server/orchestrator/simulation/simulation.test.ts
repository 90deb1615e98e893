import { describe, expect, test } from 'vitest';
import { BROKEN_ENGINES } from './broken-engines.ts';
import { Violation } from './checkers/violation.ts';
import { describeFailure } from './failure.ts';
import type { Log } from './log.ts';
import { simulate } from './simulate.ts';

const SEEDS = 2_200;

describe('simulation', () => {
  test('no guarantee is broken, whatever happens when', () => {
    const seen = new Map<string, number>();
    let runs = 0;
    for (let seed = 1; seed <= SEEDS; seed++) {
      try {
        runs += simulate(seed, { inspect: log => countOccurrences(log, seen) }).runs;
      } catch (error) {
        throw new Error(describeFailure(seed, error), { cause: error });
      }
    }
    expect(runs).toBeGreaterThanOrEqual(3_000);
    // A simulation that never meets a case proves nothing about it.
    for (const occurrence of EXPECTED) expect(seen.get(occurrence) ?? 0, occurrence).toBeGreaterThanOrEqual(20);
  }, 60_000);

  test('the same seed gives the same run', () => {
    const logOf = (seed: number) => {
      let text = '';
      simulate(seed, { inspect: log => (text = JSON.stringify([...log.runs.values()].map(run => run.events))) });
      return text;
    };
    for (let seed = 1; seed <= 20; seed++) expect(logOf(seed)).toBe(logOf(seed));
    expect(logOf(1)).not.toBe(logOf(2));
  });
});

describe('the checkers notice an engine that', () => {
  test.each(BROKEN_ENGINES)('$name', ({ options, caughtBy }) => {
    expect(caughtBy).toContain(firstViolation(options)?.checker);
  });
});

function firstViolation(options: Parameters<typeof simulate>[1]): Violation | undefined {
  for (let seed = 1; seed <= 2_000; seed++) {
    try {
      simulate(seed, options);
    } catch (error) {
      if (error instanceof Violation) return error;
      throw error;
    }
  }
  return undefined;
}

const EXPECTED = [
  'completed',
  'failed',
  'stopped',
  'blocked',
  'run_stopped',
  'branch_not_taken',
  'step_disabled',
  'out_of_scope',
  'run_failed',
  'RUN_STOPPED',
  'stop_requested',
  'step_retrying',
  'step_log',
  'task_pending',
  'task_completed',
  'timed_out',
  'lost',
  'attempt_lost_repeatedly',
  'task_timed_out',
  'paused',
  'running',
];

function countOccurrences(log: Log, seen: Map<string, number>): void {
  const count = (what: string) => seen.set(what, (seen.get(what) ?? 0) + 1);
  for (const { events, history } of log.runs.values()) {
    for (const event of events) {
      count(event.type);
      if (event.type === 'state_changed') count(event.data.to);
      if (event.type === 'step_failed') count(event.data.error.code);
      if (event.type === 'step_completed' && 'skipped' in event.data) count(event.data.reason);
      if (event.type === 'step_cancelled') count(event.data.reason);
      if (event.type === 'task_completed' && event.data.timed_out) count('timed_out');
    }
    for (const step of history.steps.values()) if (step.lost > 0) count('lost');
  }
}
