import { expect, test } from 'vitest';
import { figuresOf, spreadOf } from './agent-figures.ts';

const run = (status: string, credits_microcredits = 0) => ({
  status,
  credits_microcredits,
  ended_at: status === 'running' ? null : '2026-01-01T00:00:00.000Z',
});

test('there are no figures before a run has ended', () => {
  expect(figuresOf([])).toEqual({ successRate: null, creditsPerRun: null });
  expect(figuresOf([run('running', 5)])).toEqual({ successRate: null, creditsPerRun: null });
});

test('the credits of a stopped run count, but it is neither a success nor a failure', () => {
  const runs = [run('completed', 4), run('failed', 1), run('stopped', 1), run('running', 100)];
  expect(figuresOf(runs)).toEqual({ successRate: 0.5, creditsPerRun: 2 });
});

test('returns the median and maximum of ended runs', () => {
  const took = (seconds: number, credits: number) => ({
    status: 'completed',
    credits_microcredits: credits,
    started_at: '2026-01-01T00:00:00.000Z',
    ended_at: new Date(Date.UTC(2026, 0, 1, 0, 0, seconds)).toISOString(),
  });
  expect(spreadOf([])).toBeNull();
  expect(spreadOf([{ ...took(1, 1), ended_at: null }])).toBeNull();
  expect(spreadOf([took(9, 10), took(1, 30), took(3, 20), took(2, 0)])).toEqual({
    runs: 4,
    ms: { median: 2_000, most: 9_000 },
    microcredits: { median: 10, most: 30 },
  });
});
