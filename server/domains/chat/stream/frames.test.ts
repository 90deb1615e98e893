import { uiMessageChunkSchema } from 'ai';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { JsonMap } from '../../../orchestrator/core/index.ts';
import type { AttemptPiece } from '../../../orchestrator/ports/live-text.ts';
import type { ContentPart } from '../../../orchestrator/steps/agent/turn-messages.ts';
import { type AnswerEvent, AnswerFrames, type Frame } from './frames.ts';
import { MessageParts, textOf } from './parts.ts';

const runId = '0198c0de-7a2b-7cc3-9d1e-3f2b8a6c4d10';
type Fields = { step?: string; attempt?: number; data?: JsonMap };

/** Numbers events as the log does. */
function logOf(events: [type: string, fields?: Fields][]): AnswerEvent[] {
  return events.map(([event_type, { step, attempt, data = {} } = {}], index) => ({
    seq: index + 1,
    event_type,
    step_id: step,
    attempt,
    data,
  }));
}
const turn = (content: ContentPart[], more: JsonMap = {}): JsonMap => ({
  result: {
    text: content.flatMap(part => (part.type === 'text' ? part.text : [])).join(''),
    content,
    finish_reason: content.some(({ type }) => type === 'tool_call') ? 'tool_calls' : 'stop',
    model: 'x/y',
    usage: { input_tokens: 1, output_tokens: 1 },
    ...more,
  } as JsonMap,
});
const framesOf = (events: AnswerEvent[], after = 0) => {
  const frames = new AnswerFrames({ runId, after });
  return events.flatMap(event => frames.event(event));
};
const chunks = (frames: Frame[]) => frames.map(({ chunk }) => chunk);
function fold(frames: Frame[]) {
  const message = new MessageParts();
  for (const { chunk } of frames) message.add(chunk);
  return message.parts;
}
const text = (value: string): ContentPart => ({ type: 'text', text: value });
const call = (name: string, args: JsonMap = {}): ContentPart => ({ type: 'tool_call', id: 'c', name, arguments: args });
const piece = (value: string, index = 0, attempt = 1, type: 'text' | 'reasoning' = 'text'): AttemptPiece => ({
  type,
  index,
  text: value,
  step: 'agent.1',
  attempt,
});

const answered = logOf([
  ['run_started'],
  ['step_started', { step: 'agent', attempt: 1 }],
  ['step_started', { step: 'agent.1', attempt: 1 }],
  ['step_completed', { step: 'agent.1', attempt: 1, data: turn([{ type: 'reasoning', text: 'Hm.' }, text('Hello')]) }],
  ['step_completed', { step: 'agent', attempt: 1, data: { result: { text: 'Hello' } } }],
  ['state_changed', { data: { from: 'running', to: 'completed' } }],
]);

test('an answer is a message with a step, its reasoning and its text', () => {
  const frames = framesOf(answered);
  expect(chunks(frames).map(({ type }) => type)).toEqual([
    'start',
    'start-step',
    'reasoning-start',
    'reasoning-delta',
    'reasoning-end',
    'text-start',
    'text-delta',
    'text-end',
    'finish-step',
    'finish',
  ]);
  expect(frames.filter(({ seq }) => seq !== undefined).map(({ seq }) => seq)).toEqual([1, 3, 4, 6]);
  expect(fold(frames)).toMatchObject([{ type: 'step-start' }, { type: 'reasoning' }, { type: 'text', text: 'Hello' }]);
});

test('calls, approvals and outcomes have the ids of steps, and not those of the model', () => {
  const content = [text('I look.'), call('find', { q: 1 }), call('send', { to: 'a' }), call('drop'), call('nonsense')];
  const log = logOf([
    ['run_started'],
    ['step_started', { step: 'agent.1', attempt: 1 }],
    [
      'step_completed',
      { step: 'agent.1', data: turn(content, { problems: { '4': { code: 'unknown_tool', message: 'No.' } } }) },
    ],
    ['task_pending', { step: 'agent.1.2.ok', attempt: 1 }],
    ['step_completed', { step: 'agent.1.1', data: { result: { found: 3 } } }],
    ['task_completed', { step: 'agent.1.2.ok', attempt: 1, data: { approved: false } }],
    ['step_completed', { step: 'agent.1.2', data: { skipped: true, reason: 'not_approved' } }],
    ['step_failed', { step: 'agent.1.3', data: { error: { code: 'tool_failed', message: 'Broken' } } }],
    ['step_started', { step: 'agent.2', attempt: 1 }],
    ['step_completed', { step: 'agent.2', data: turn([text('Done.')]) }],
    ['state_changed', { data: { from: 'running', to: 'completed' } }],
  ]);
  const id = (step: string) => `${runId}:agent.${step}`;
  expect(fold(framesOf(log))).toEqual([
    { type: 'step-start' },
    { type: 'text', text: 'I look.', state: 'done' },
    {
      type: 'dynamic-tool',
      toolCallId: id('1.1'),
      toolName: 'find',
      state: 'output-available',
      input: { q: 1 },
      output: { found: 3 },
    },
    {
      type: 'dynamic-tool',
      toolCallId: id('1.2'),
      toolName: 'send',
      state: 'output-denied',
      input: { to: 'a' },
      approval: { id: id('1.2.ok'), approved: false },
    },
    {
      type: 'dynamic-tool',
      toolCallId: id('1.3'),
      toolName: 'drop',
      state: 'output-error',
      input: {},
      errorText: 'tool_failed: Broken',
    },
    {
      type: 'dynamic-tool',
      toolCallId: id('1.4'),
      toolName: 'nonsense',
      state: 'output-error',
      input: {},
      errorText: 'unknown_tool: No.',
    },
    { type: 'step-start' },
    { type: 'text', text: 'Done.', state: 'done' },
  ]);
});

test('a lost call asks under its own id, each time that it is lost', () => {
  const id = `${runId}:agent.1.1`;
  type Entry = Parameters<typeof logOf>[0][number];
  const ask: Entry = ['task_pending', { step: 'agent.1.1', attempt: 2, data: { in_doubt: true } }];
  const decided = (decision: string): Entry => [
    'task_completed',
    { step: 'agent.1.1', attempt: 2, data: { approved: decision !== 'skip', decision } },
  ];
  const begin: Entry[] = [
    ['run_started'],
    ['step_started', { step: 'agent.1', attempt: 1 }],
    ['step_completed', { step: 'agent.1', data: turn([call('send')]) }],
  ];
  const stateAfter = (...events: Entry[]) => fold(framesOf(logOf([...begin, ...events]))).at(-1);
  expect(stateAfter(ask)).toMatchObject({ state: 'approval-requested', approval: { id } });
  expect(stateAfter(ask, decided('repeat'))).toMatchObject({
    state: 'approval-responded',
    approval: { approved: true },
  });
  expect(stateAfter(ask, decided('repeat'), ask)).toMatchObject({ state: 'approval-requested' });
  const skipped: Entry = ['step_completed', { step: 'agent.1.1', data: { skipped: true, reason: 'not_repeated' } }];
  expect(stateAfter(ask, decided('skip'), skipped)).toMatchObject({
    state: 'output-error',
    errorText: expect.stringContaining('It was not repeated'),
  });
});

test('live text is completed, and not repeated', () => {
  const frames = new AnswerFrames({ runId });
  const out = answered.slice(0, 3).flatMap(event => frames.event(event));
  out.push(...frames.piece(piece('H', 0, 1, 'reasoning')), ...frames.piece(piece('m.', 0, 1, 'reasoning')));
  out.push(...frames.piece(piece('Hel', 1)));
  const completed = frames.event(answered[3] as AnswerEvent);
  expect(chunks(completed)).toMatchObject([{ type: 'text-delta', delta: 'lo' }, { type: 'text-end' }]);
  expect(textOf(fold([...out, ...completed]))).toBe('Hello');
  expect(frames.piece(piece('late', 1))).toEqual([]);
});

test('the text of the log replaces live text that differs', () => {
  const frames = new AnswerFrames({ runId });
  const out = answered.slice(0, 3).flatMap(event => frames.event(event));
  out.push(...frames.piece(piece('Secret', 1)), ...frames.event(answered[3] as AnswerEvent));
  expect(chunks(out).map(({ type }) => type)).toContain('reset-step');
  expect(textOf(fold(out))).toBe('Hello');
});

test('the attempt after a crash resets its step, and pieces of the lost attempt are dropped', () => {
  const frames = new AnswerFrames({ runId });
  const out = answered.slice(0, 3).flatMap(event => frames.event(event));
  out.push(...frames.piece(piece('Lost', 1)));
  // The first piece of an attempt may arrive before the start of the attempt.
  expect(frames.piece(piece('He', 1, 2))).toEqual([]);
  out.push(...frames.event({ seq: 4, event_type: 'step_started', step_id: 'agent.1', attempt: 2, data: {} }));
  out.push(...frames.piece(piece('dropped', 1, 1)), ...frames.piece(piece('l', 1, 2)));
  expect(textOf(fold(out))).toBe('Hel');
  const [, , , completed] = answered;
  out.push(...frames.event({ ...(completed as AnswerEvent), seq: 5 }));
  expect(textOf(fold(out))).toBe('Hello');
});

test('a stopped answer keeps its text', () => {
  const stopped = logOf([
    ['run_started'],
    ['step_started', { step: 'agent.1', attempt: 1 }],
    ['step_cancelled', { step: 'agent.1', attempt: 1, data: { reason: 'RUN_STOPPED', partial: 'Once upon' } }],
    ['state_changed', { data: { from: 'running', to: 'stopped', by: 'ann@example.com' } }],
  ]);
  expect(textOf(fold(framesOf(stopped)))).toBe('Once upon');
  expect(chunks(framesOf(stopped)).at(-1)).toEqual({ type: 'abort', reason: 'Stopped by ann@example.com' });
  const live = new AnswerFrames({ runId });
  const out = stopped.slice(0, 2).flatMap(event => live.event(event));
  out.push(...live.piece(piece('Once')), ...stopped.slice(2).flatMap(event => live.event(event)));
  expect(textOf(fold(out))).toBe('Once upon');
});

test('a failed or refused answer has an error', () => {
  const failed = logOf([
    ['run_started'],
    [
      'state_changed',
      { data: { to: 'failed', error: { code: 'x', message: 'The provider is down.', step_id: 'agent' } } },
    ],
  ]);
  expect(chunks(framesOf(failed)).slice(1)).toEqual([
    { type: 'error', errorText: 'The provider is down.' },
    { type: 'finish', finishReason: 'error', messageMetadata: { status: 'failed' } },
  ]);
  const refused = logOf([['run_rejected', { data: { code: 'x', message: 'No credits.' } }]]);
  expect(chunks(framesOf(refused))).toEqual([{ type: 'error', errorText: 'No credits.' }]);
});

describe('resuming', () => {
  test('after any frame leads to the same message', () => {
    const whole = fold(framesOf(answered));
    const all = framesOf(answered);
    for (let cut = 0; cut <= all.length; cut++) {
      const had = all.slice(0, cut);
      const after = had.findLast(({ seq }) => seq !== undefined)?.seq ?? 0;
      // A client without a cursor begins with an empty message.
      const kept = after === 0 ? [] : had;
      expect(fold([...kept, ...framesOf(answered, after)])).toEqual(whole);
    }
  });

  test('during a text sends the text so far once', () => {
    const after = 3;
    const had = framesOf(answered.slice(0, 3));
    had.push({ chunk: { type: 'text-start', id: 'x' } }, { chunk: { type: 'text-delta', id: 'x', delta: 'Hel' } });
    const frames = new AnswerFrames({ runId, after });
    const again = answered.slice(0, 3).flatMap(event => frames.event(event));
    expect(again).toEqual([]);
    const written = frames.piece(piece('Hell', 1));
    expect(chunks(written)[0]).toEqual({ type: 'reset-step' });
    const rest = [...written, ...answered.slice(3).flatMap(event => frames.event(event))];
    expect(textOf(fold([...had, ...rest]))).toBe('Hello');
  });

  test('leads to the text of the log for any pieces and cuts', () => {
    const parts = fc.array(
      fc.record({ type: fc.constantFrom('text' as const, 'reasoning' as const), text: fc.string({ maxLength: 20 }) }),
      { maxLength: 4 },
    );
    fc.assert(
      fc.property(parts, fc.nat(60), fc.nat(40), (content, heard, cut) => {
        const log = logOf([
          ['run_started'],
          ['step_started', { step: 'agent.1', attempt: 1 }],
          ['step_completed', { step: 'agent.1', attempt: 1, data: turn(content) }],
          ['state_changed', { data: { to: 'completed' } }],
        ]);
        const live = new AnswerFrames({ runId });
        const out = log.slice(0, 2).flatMap(event => live.event(event));
        const letters = content.flatMap(({ type, text: written }, index) =>
          [...written].map(letter => piece(letter, index, 1, type)),
        );
        for (const letter of letters.slice(0, heard)) out.push(...live.piece(letter));
        out.push(...log.slice(2).flatMap(event => live.event(event)));
        const had = out.slice(0, cut);
        const after = had.findLast(({ seq }) => seq !== undefined)?.seq ?? 0;
        const whole = fold([...(after === 0 ? [] : had), ...framesOf(log, after)]);
        expect(textOf(whole)).toBe(textOf(fold(framesOf(log))));
        expect(textOf(fold(out))).toBe(textOf(whole));
      }),
      { numRuns: 300 },
    );
  });
});

test('every frame is a chunk of the official client', async () => {
  const schema = uiMessageChunkSchema();
  for (const { chunk } of framesOf(answered)) {
    expect(await schema.validate?.(JSON.parse(JSON.stringify(chunk)))).toMatchObject({ success: true });
  }
});

test('an answer shows the number of recalled memories, also after later turns', () => {
  const plan = { type: 'agent', model: 'x/y', memories: 3 };
  const events = logOf([
    ['run_started'],
    ['step_started', { step: 'agent', attempt: 1 }],
    ['step_expanded', { step: 'agent', attempt: 1, data: { plan, items: [] } }],
    ['step_started', { step: 'agent.1', attempt: 1 }],
    ['step_started', { step: 'agent.1', attempt: 2 }],
    ['step_completed', { step: 'agent.1', attempt: 2, data: turn([text('Hello')]) }],
  ]);
  const recall = { type: 'data-recall', id: 'agent', data: { memories: 3 } };
  expect(chunks(framesOf(events))).toContainEqual(recall);
  expect(fold(framesOf(events))).toEqual([
    recall,
    { type: 'step-start' },
    { type: 'text', text: 'Hello', state: 'done' },
  ]);
  const without = events.map(event =>
    event.event_type === 'step_expanded' ? { ...event, data: { plan: {} } } : event,
  );
  expect(chunks(framesOf(without)).some(({ type }) => type === 'data-recall')).toBe(false);
});
