import { expect, test } from 'vitest';
import { figuresOf } from './agent-figures.ts';

const run = (status: string, credits_microcredits = 0) => ({
  status,
  credits_microcredits,
  ended_at: status === 'running' ? null : '2026-01-01T00:00:00.000Z',
});

test('nothing is said where no run has ended', () => {
  expect(figuresOf([])).toEqual({ successRate: null, creditsPerRun: null });
  expect(figuresOf([run('running', 5)])).toEqual({ successRate: null, creditsPerRun: null });
});

test('a stopped run costs credits, and is neither a success nor a failure', () => {
  const runs = [run('completed', 4), run('failed', 1), run('stopped', 1), run('running', 100)];
  expect(figuresOf(runs)).toEqual({ successRate: 0.5, creditsPerRun: 2 });
});
