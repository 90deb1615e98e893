import { expect, test } from 'vitest';
import type { WireEvent } from '@/server/domains/runs/reading/run-state.ts';
import { parseJson } from '@/server/platform/json-text.ts';
import { eventFile } from './event-file.ts';

const big = 9_007_199_254_740_993n;
const log = Array.from({ length: 5 }, (_, at) => {
  const data = { text: `line\n${at}`, big } as unknown as WireEvent['data'];
  return { seq: at + 1, event_type: 'step_log', run_id: 'r', workflow_id: 'w', data, created_at: 't' };
});
const page = (after: number) => Promise.resolve(log.filter(({ seq }) => seq > after).slice(0, 2));

test('a log is one JSON list of all pages, with exact integers', async () => {
  const { parts, type } = await eventFile('json', page);
  expect(type).toBe('application/json');
  expect(parseJson(parts.join(''))).toEqual(log);
  expect((await eventFile('json', () => Promise.resolve([]))).parts.join('')).toBe('[\n]\n');
});

test('as NDJSON each line is one event', async () => {
  const { parts } = await eventFile('ndjson', page);
  const lines = parts.join('').split('\n');
  expect(lines.pop()).toBe('');
  expect(lines.map(line => parseJson(line))).toEqual(log);
});
