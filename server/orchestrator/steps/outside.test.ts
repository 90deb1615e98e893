import { describe, expect, test } from 'vitest';
import type { GraphStep } from '../core/index.ts';
import { outsideOf } from './outside.ts';

type Given = { steps?: GraphStep[]; input?: string; loop?: GraphStep };

/** Returns where a template reads text from outside, in a run with these steps before it. */
function read(template: string, { steps = [], input, loop }: Given = {}) {
  const known = new Map(steps.map(step => [step.id, step]));
  return outsideOf(template, {
    ancestors: () => new Set(known.keys()),
    stepOf: id => known.get(id),
    outsideInput: input ?? null,
    loop: loop ?? null,
  });
}
const of = (type: string, more: object = {}): GraphStep => ({ id: 'x', type, ...more });
const RESULT = 'in the result of the step `x`';

describe('a value is from outside', () => {
  test.each(['http_request', 'mcp_call', 'agent', 'call_workflow', 'stand_in', 'unheard_of'])(
    'if a step %s gave it',
    type => {
      expect(read('{{steps.x.result.a}}', { steps: [of(type)] })).toEqual([RESULT]);
      expect(read('{{steps.x.error.message}}', { steps: [of(type)] })).toEqual(['in the error of the step `x`']);
      expect(read('{{input.a ?? steps.x.result ?? "none"}}', { steps: [of(type)] })).toEqual([RESULT]);
    },
  );

  test('if it comes from the input of a run that an outsider started', () => {
    expect(read('{{input.message}}', { input: 'from a webhook' })).toEqual(['in the input of the run, from a webhook']);
  });

  test.each<[string, GraphStep]>([
    ['an llm_call', of('llm_call', { prompt: 'Sum up {{steps.y.result}}' })],
    ['a script', of('lua_script', { script: 'return steps.y.result' })],
    ['a loop over it', of('for_each', { items: '{{steps.y.result}}', steps: [] })],
    ['a condition', of('condition', { expression: 'steps.y.result' })],
  ])('if %s carries it on', (_, carrier) => {
    const fetched = { ...of('http_request'), id: 'y' };
    expect(read('{{steps.x.result}}', { steps: [carrier, fetched] })).toEqual([RESULT]);
    expect(read('{{steps.x.result}}', { steps: [carrier, { ...of('human_task'), id: 'y' }] })).toEqual([]);
  });

  test('if a step in a loop fetches it, at any depth', () => {
    const inner = of('for_each', { items: '[1]', steps: [of('http_request')] });
    expect(read('{{steps.x.result}}', { steps: [of('for_each', { items: '[1]', steps: [inner] })] })).toEqual([RESULT]);
  });

  test('if it is the item of a loop over values from outside, or over values of unknown origin', () => {
    const steps = [{ ...of('http_request'), id: 'y' }];
    const item = ['in the item of the loop'];
    for (const items of ['{{steps.y.result}}', 'steps.y.result.filter(a, true)', '{{item.more}}'])
      expect(read('{{item}}', { steps, loop: of('for_each', { items }) }), items).toEqual(item);
    expect(read('{{item}}', { loop: of('for_each', { items: '{{input.list}}' }) })).toEqual([]);
    expect(read('{{item}} {{index}}', { input: 'x', loop: of('for_each', { items: '{{input.list}}' }) })).toEqual(item);
  });

  test('if the step that returned it is unknown', () => {
    expect(read('{{steps.x.result}}')).toEqual([RESULT]);
  });
});

test('values of people are not, and neither are values that are not read', () => {
  const steps = [
    of('human_task'),
    { ...of('http_request'), id: 'y' },
    { ...of('llm_call', { prompt: 'Hi' }), id: 'z' },
  ];
  expect(read('Do it. {{input.a}} {{steps.x.result}} {{steps.z.result}}', { steps })).toEqual([]);
});
