import { describe, expect, test } from 'vitest';
import type { GraphStep } from '../core/index.ts';
import { outsideOf } from './outside.ts';

type Given = { steps?: GraphStep[]; input?: string; loop?: GraphStep };

/** Returns where a template reads text from outside, in a run with these steps before it. */
function readOutside(template: string, { steps = [], input, loop }: Given = {}) {
  const known = new Map(steps.map(step => [step.id, step]));
  return outsideOf(template, {
    ancestors: () => new Set(known.keys()),
    stepOf: id => known.get(id),
    outsideInput: input ?? null,
    loop: loop ?? null,
  });
}
const exampleStep = (type: string, more: object = {}): GraphStep => ({ id: 'x', type, ...more });
const RESULT = 'in the result of the step `x`';

describe('a value is from outside', () => {
  test.each(['http_request', 'mcp_call', 'agent', 'call_workflow', 'stand_in', 'unheard_of'])(
    'if a step %s gave it',
    type => {
      expect(readOutside('{{steps.x.result.a}}', { steps: [exampleStep(type)] })).toEqual([RESULT]);
      expect(readOutside('{{steps.x.error.message}}', { steps: [exampleStep(type)] })).toEqual([
        'in the error of the step `x`',
      ]);
      expect(readOutside('{{input.a ?? steps.x.result ?? "none"}}', { steps: [exampleStep(type)] })).toEqual([RESULT]);
    },
  );

  test('if it comes from the input of a run that an outsider started', () => {
    expect(readOutside('{{input.message}}', { input: 'from a webhook' })).toEqual([
      'in the input of the run, from a webhook',
    ]);
  });

  test.each<[string, GraphStep]>([
    ['an llm_call', exampleStep('llm_call', { prompt: 'Sum up {{steps.y.result}}' })],
    ['a script', exampleStep('lua_script', { script: 'return steps.y.result' })],
    ['a loop over it', exampleStep('for_each', { items: '{{steps.y.result}}', steps: [] })],
    ['a condition', exampleStep('condition', { expression: 'steps.y.result' })],
  ])('if %s passes it on', (_, carrier) => {
    const fetched = { ...exampleStep('http_request'), id: 'y' };
    expect(readOutside('{{steps.x.result}}', { steps: [carrier, fetched] })).toEqual([RESULT]);
    expect(readOutside('{{steps.x.result}}', { steps: [carrier, { ...exampleStep('human_task'), id: 'y' }] })).toEqual(
      [],
    );
  });

  test('if a step in a loop fetches it, at any depth', () => {
    const inner = exampleStep('for_each', { items: '[1]', steps: [exampleStep('http_request')] });
    expect(
      readOutside('{{steps.x.result}}', { steps: [exampleStep('for_each', { items: '[1]', steps: [inner] })] }),
    ).toEqual([RESULT]);
  });

  test('if it is the item of a loop over values from outside, or over values of unknown origin', () => {
    const steps = [{ ...exampleStep('http_request'), id: 'y' }];
    const item = ['in the item of the loop'];
    for (const items of ['{{steps.y.result}}', 'steps.y.result.filter(a, true)', '{{item.more}}'])
      expect(readOutside('{{item}}', { steps, loop: exampleStep('for_each', { items }) }), items).toEqual(item);
    expect(readOutside('{{item}}', { loop: exampleStep('for_each', { items: '{{input.list}}' }) })).toEqual([]);
    expect(
      readOutside('{{item}} {{index}}', { input: 'x', loop: exampleStep('for_each', { items: '{{input.list}}' }) }),
    ).toEqual(item);
  });

  test('if the step that returned it is unknown', () => {
    expect(readOutside('{{steps.x.result}}')).toEqual([RESULT]);
  });
});

test('values of people are not, and neither are values that are not read', () => {
  const steps = [
    exampleStep('human_task'),
    { ...exampleStep('http_request'), id: 'y' },
    { ...exampleStep('llm_call', { prompt: 'Hi' }), id: 'z' },
  ];
  expect(readOutside('Do it. {{input.a}} {{steps.x.result}} {{steps.z.result}}', { steps })).toEqual([]);
});
