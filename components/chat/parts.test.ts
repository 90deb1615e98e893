import type { UIMessage } from 'ai';
import { expect, test } from 'vitest';
import { awaitsPerson, type Part, partsOf, stepOf, withKeys } from './parts.ts';

const call = { toolCallId: 'run:agent.1.2', input: { a: 1 } };

test('a streamed answer has the same parts as the stored one', () => {
  const parts: UIMessage['parts'] = [
    { type: 'step-start' },
    { type: 'data-summary', id: 'agent.c1', data: { text: 'So far.', messages: 4, history: 2 } },
    { type: 'reasoning', text: 'Hm.', state: 'done' },
    { type: 'text', text: 'Yes', state: 'streaming' },
    { type: 'dynamic-tool', toolName: 'send', state: 'output-available', output: { b: 2 }, ...call },
    { type: 'tool-send', state: 'output-error', errorText: 'no', ...call },
    {
      type: 'dynamic-tool',
      toolName: 'send',
      state: 'approval-requested',
      approval: { id: 'run:agent.1.2.ok' },
      ...call,
    },
  ];
  expect(partsOf({ parts })).toEqual([
    { type: 'data-summary', id: 'agent.c1', data: { text: 'So far.', messages: 4, history: 2 } },
    { type: 'reasoning', text: 'Hm.' },
    { type: 'text', text: 'Yes' },
    { type: 'dynamic-tool', toolName: 'send', state: 'output-available', output: { b: 2 }, ...call },
    { type: 'dynamic-tool', toolName: 'send', state: 'output-error', errorText: 'no', ...call },
    {
      type: 'dynamic-tool',
      toolName: 'send',
      state: 'approval-requested',
      approval: { id: 'run:agent.1.2.ok' },
      ...call,
    },
  ]);
});

test('a streamed part has the same key as the stored one', () => {
  const tool = { type: 'dynamic-tool', toolName: 'send', state: 'input-available' } as const;
  const streamed: Part[] = [
    { type: 'text', text: 'I send it.' },
    { ...tool, ...call },
    { ...tool, ...call, toolCallId: 'run:agent.1.3' },
    { type: 'text', text: 'Sent.' },
  ];
  const [before, ...after] = streamed;
  const stored: Part[] = [{ type: 'step-start' }, ...(before ? [before] : []), { type: 'step-start' }, ...after];
  const keysOf = (parts: readonly Part[]) =>
    withKeys(parts).flatMap(([key, { type }]) => (type === 'step-start' ? [] : [key]));
  expect(keysOf(stored)).toEqual(keysOf(streamed));
  expect(new Set(withKeys(stored).map(([key]) => key)).size).toBe(stored.length);
});

test('the id of a call names its run and its step', () => {
  expect(stepOf('run:agent.1.2')).toEqual({ runId: 'run', step: 'agent.1.2' });
  expect(stepOf('')).toEqual({ runId: '', step: '' });
});

test('an answer waits for a person if no other call is active', () => {
  const inState = (state: Extract<Part, { type: 'dynamic-tool' }>['state']): Part => ({
    type: 'dynamic-tool',
    toolName: 'send',
    state,
    ...call,
  });
  expect(awaitsPerson([inState('output-available'), inState('approval-requested')])).toBe(true);
  expect(awaitsPerson([inState('input-available'), inState('approval-requested')])).toBe(false);
  expect(awaitsPerson([inState('approval-responded')])).toBe(false);
  expect(awaitsPerson([])).toBe(false);
});
