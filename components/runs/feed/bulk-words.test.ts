import { expect, test } from 'vitest';
import { type BulkJob, countInWords, progressInWords } from './bulk-words.ts';

test('the dialog shows how many of the selected runs an action applies to', () => {
  const count = (matching: number, capped = false) => ({ matching, capped });
  expect(countInWords('rerun', count(3), 5)).toBe('3 of the 5 selected runs have ended.');
  expect(countInWords('stop', count(1), 5)).toBe('1 of the 5 selected runs is active.');
  expect(countInWords('continue', count(214), null)).toBe('214 runs that match have failed.');
  expect(countInWords('stop', count(100_000, true), null)).toBe('100,000+ runs that match are active.');
});

test('the progress of a job is described in one line', () => {
  const job = { action: 'continue', state: 'working', matched: 214, done: 12, passed: 1, failed: 1 } as BulkJob;
  expect(progressInWords(job)).toBe('Continuing runs: 14 of 214');
  expect(progressInWords({ ...job, matched: 0 })).toBe('Looking for runs');
  expect(progressInWords({ ...job, state: 'finished', done: 212 })).toBe('Continued: 212 of 214');
});
