import { expect, test } from 'vitest';
import { turnsOfRun } from './run-turns.ts';

const texts = (...args: Parameters<typeof turnsOfRun>) => turnsOfRun(...args).map(({ text }) => text);

test('the turns of a run are its input, results, texts of models, and failure', () => {
  const steps = {
    sum: { result: { total: 3 } },
    answer: { result: { text: 'Three.', tokens: 4 } },
    plain: { result: 'As it is' },
    nothing: { result: null },
    large: { result: null, result_ref: { payload_id: 'p', bytes: 1 } },
  };
  expect(texts({ input: { price: 1 }, steps }, { step_id: 'send', message: 'no address' })).toEqual([
    'Input: {"price":1}',
    'sum: {"total":3}',
    'answer: Three.',
    'plain: As it is',
    'The run failed at send: no address',
  ]);
  expect(turnsOfRun({ input: {}, steps: { plain: { result: 'x' } } }, null)).toEqual([
    { role: 'tool', text: 'plain: x' },
  ]);
});

test('the turns of a run fit into a request', () => {
  const steps = Object.fromEntries(Array.from({ length: 600 }, (_, at) => [`s${at}`, { result: 'x'.repeat(30_000) }]));
  const turns = turnsOfRun({ input: {}, steps }, null);
  expect(Math.max(...turns.map(({ text }) => text.length))).toBe(20_000);
  expect(turns.reduce((sum, { text }) => sum + text.length, 0)).toBe(400_000);
});
