import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ScriptInput } from '../../../bin/fake-model/script.ts';
import { type FakeModel, startFakeModel } from '../../../bin/fake-model/server.ts';
import { type ModelServer, startModelServer } from '../../testing/model-server.ts';
import { ManualClock } from '../clock.ts';
import type { Json, JsonObject } from '../json.ts';
import { createRedactor } from '../secrets/redaction.ts';
import { type ContentPart, type TurnMessage, TurnMessages } from './messages.ts';
import { askTurn, type TurnQuestion, type TurnReply } from './turn.ts';
import type { TurnPiece } from './turn-content.ts';

let fake: FakeModel;
/** For the formats that the fake model does not speak. */
let server: ModelServer;

beforeAll(async () => {
  fake = await startFakeModel();
  server = await startModelServer();
});
beforeEach(() => {
  fake.requests.length = 0;
  server.requests.length = 0;
});
afterAll(async () => {
  await fake.close();
  await server.close();
});

const hello: TurnMessage[] = [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: [{ type: 'text', text: 'Hello' }] },
];
const weather = {
  name: 'weather',
  description: 'Tells the weather.',
  inputSchema: { type: 'object', properties: { place: { type: 'string' } } },
};
const person = {
  schema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'], additionalProperties: false },
  problem: (value: Json) => (typeof (value as JsonObject).name === 'string' ? '' : 'name is missing'),
};

async function turn(
  question: Partial<TurnQuestion> = {},
  { secrets = [] as string[], signal = new AbortController().signal } = {},
): Promise<TurnReply & { pieces: TurnPiece[] }> {
  const pieces: TurnPiece[] = [];
  const reply = await askTurn(
    {
      provider: 'openai_compatible',
      baseUrl: fake.url,
      model: 'scripted',
      messages: hello,
      tools: [],
      toolChoice: 'auto',
      ...question,
    },
    {
      fetch,
      clock: new ManualClock(),
      signal,
      redactor: createRedactor(secrets),
      onPiece: piece => pieces.push(piece),
    },
  );
  return { ...reply, pieces };
}

const script = (...answers: NonNullable<ScriptInput['answers']>) => fake.script({ answers });
const joined = (pieces: TurnPiece[], index: number) =>
  pieces.flatMap(piece => (piece.index === index && 'text' in piece ? piece.text : [])).join('');
const contentOf = (reply: TurnReply): ContentPart[] => (reply.kind === 'answer' ? reply.content : []);
const sent = (at: number) => fake.requests[at]?.body as { messages: JsonObject[]; tools?: Json; tool_choice?: Json };

/** Returns the conversation after an answer, with a result for each of its calls. */
function followed(content: ContentPart[], messages = hello): TurnMessage[] {
  const results = content.flatMap(part =>
    part.type === 'tool_call'
      ? [
          {
            type: 'tool_result' as const,
            id: part.id,
            name: part.name,
            output: { type: 'text' as const, value: 'Rain.' },
          },
        ]
      : [],
  );
  return [
    ...messages,
    { role: 'assistant', content },
    ...(results.length > 0 ? [{ role: 'tool' as const, content: results }] : []),
  ];
}

describe('an answer', () => {
  test('is text in pieces, with model and usage', async () => {
    script({ content: [{ text: ['Hel', 'lo.'] }], usage: { input: 9, output: 4, cached: 3, reasoning: 1 } });
    expect(await turn({ headers: { 'Idempotency-Key': 'run:step' } })).toEqual({
      kind: 'answer',
      written: 6,
      content: [{ type: 'text', text: 'Hello.' }],
      model: 'scripted',
      usage: { input: 9, output: 4, cachedInput: 3, reasoning: 1 },
      finish: 'stop',
      warnings: [],
      pieces: [
        { type: 'text', index: 0, text: 'Hel' },
        { type: 'text', index: 0, text: 'lo.' },
      ],
    });
    expect(fake.requests[0]?.headers).toMatchObject({ 'idempotency-key': 'run:step' });
    expect(sent(0)).toMatchObject({ messages: [{ role: 'system' }, { role: 'user', content: 'Hello' }] });
    expect(sent(0)).not.toHaveProperty('tools');
  });

  test('calls tools in parallel, for any finish reason of the provider', async () => {
    const calls: { name: string; arguments: JsonObject }[] = [
      { name: 'weather', arguments: { place: 'Rome, where it is said to be warm' } },
      { name: 'news', arguments: { about: 'sports', place: 'Oslo' } },
    ];
    script({ content: [{ text: 'I look.' }, { calls }], finish: 'stop' });
    const { pieces, ...reply } = await turn({ tools: [weather] });
    expect(reply).toMatchObject({
      finish: 'tool_calls',
      content: [
        { type: 'text', text: 'I look.' },
        { type: 'tool_call', id: 'call_1', name: 'weather', arguments: calls[0]?.arguments },
        { type: 'tool_call', id: 'call_2', name: 'news', arguments: calls[1]?.arguments },
      ],
    });
    expect(pieces.filter(({ type }) => type === 'tool_call')).toEqual([
      { type: 'tool_call', index: 1, id: 'call_1', name: 'weather' },
      { type: 'tool_call', index: 2, id: 'call_2', name: 'news' },
    ]);
    expect([1, 2].map(index => joined(pieces, index))).toEqual(calls.map(call => JSON.stringify(call.arguments)));
    expect(sent(0).tools).toEqual([
      {
        type: 'function',
        function: { name: 'weather', description: weather.description, parameters: weather.inputSchema },
      },
    ]);
  });

  test('keeps arguments that are not JSON, or that cannot be stored, as text with a flag', async () => {
    const bad = ['{"place": ', 'Rome', '{"place": "\\u0000"}', `${'['.repeat(200)}${']'.repeat(200)}`];
    script({ content: [{ calls: bad.map(text => ({ name: 'weather', arguments: text })) }] });
    const content = contentOf(await turn({ tools: [weather] }));
    expect(content).toMatchObject(bad.map(text => ({ type: 'tool_call', arguments: text, malformed: true })));
    script({ content: [{ text: 'Sorry.' }] });
    await turn({ tools: [weather], messages: followed(content) });
    expect(sent(1).messages[2]).toMatchObject({
      tool_calls: bad.map(text => ({ function: { arguments: JSON.stringify({ malformed_arguments: text }) } })),
    });
  });

  test('cut within a call keeps the call, malformed', async () => {
    script({ content: [{ calls: [{ name: 'weather', arguments: '{"pla' }] }], finish: 'length' });
    expect(await turn({ tools: [weather] })).toMatchObject({
      finish: 'length',
      content: [{ type: 'tool_call', arguments: '{"pla', malformed: true }],
    });
  });

  test('treats absent arguments as an empty object, and distinguishes repeated ids', async () => {
    const call = { name: 'now', arguments: '', id: 'same' };
    script({ content: [{ calls: [call, call, { ...call, arguments: 3 }] }] });
    const content = contentOf(await turn());
    expect(content).toMatchObject([{ arguments: {} }, { arguments: {} }, { arguments: 3 }]);
    expect(new Set(content.map(part => (part.type === 'tool_call' ? part.id : ''))).size).toBe(3);
  });

  test('is stored and read unchanged; unknown fields are refused', async () => {
    script({ content: [{ reasoning: 'Hm.' }, { text: 'Well,' }, { calls: [{ name: 'x', signature: 'c2ln' }] }] });
    const messages = followed(contentOf(await turn()));
    expect(TurnMessages.parse(JSON.parse(JSON.stringify(messages)))).toEqual(messages);
    expect(TurnMessages.safeParse([{ role: 'user', content: [{ type: 'text', txt: '' }] }]).success).toBe(false);
  });

  test('is text that can be stored, also where a character comes in two halves', async () => {
    const [high = '', low = ''] = ['\ud83d', '\ude00'];
    script({ content: [{ text: ['a\0', high, low, `${high}b`, high] }] });
    const { pieces, ...reply } = await turn();
    expect(reply).toMatchObject({ content: [{ text: 'a\ufffd😀\ufffdb\ufffd' }] });
    expect(joined(pieces, 0)).toBe('a\ufffd😀\ufffdb\ufffd');
  });
});

describe('the next request', () => {
  test('returns reasoning, signatures and arguments byte for byte', async () => {
    const signature = 'CiQB1rYv+/=\u00e9"\\n';
    const spaced = '{ "place" : "Rome",  "days": 1.0 }';
    script(
      { content: [{ reasoning: ['I ', 'think.'] }, { calls: [{ name: 'weather', arguments: spaced, signature }] }] },
      { content: [{ text: 'It rains.' }] },
    );
    const content = contentOf(await turn({ tools: [weather] }));
    expect(content).toMatchObject([
      { type: 'reasoning', text: 'I think.' },
      { type: 'tool_call', arguments: { place: 'Rome', days: 1 }, raw: spaced },
    ]);
    const stored = TurnMessages.parse(JSON.parse(JSON.stringify(followed(content))));
    await turn({ tools: [weather], messages: stored });
    expect(sent(1).messages.slice(2)).toEqual([
      {
        role: 'assistant',
        content: null,
        reasoning_content: 'I think.',
        tool_calls: [
          {
            id: 'call_1',
            type: 'function',
            function: { name: 'weather', arguments: spaced },
            extra_content: { google: { thought_signature: signature } },
          },
        ],
      },
      { role: 'tool', tool_call_id: 'call_1', content: 'Rain.' },
    ]);
  });

  test('returns the signature of a reasoning to Anthropic, and marks what to keep', async () => {
    const signature = 'EqQBCgIYAhIM1gbcDa9GJwZA2b3h';
    const event = (type: string, fields: object) => `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
    const block = (index: number, content_block: object, ...deltas: object[]) =>
      event('content_block_start', { index, content_block }) +
      deltas.map(delta => event('content_block_delta', { index, delta })).join('') +
      event('content_block_stop', { index });
    server.reply({
      text: '',
      raw:
        block(
          1,
          { type: 'thinking', thinking: '' },
          { type: 'thinking_delta', thinking: 'I look.' },
          { type: 'signature_delta', signature },
        ) +
        block(2, { type: 'redacted_thinking', data: 'c2VjcmV0' }) +
        block(
          3,
          { type: 'tool_use', id: 'toolu_1', name: 'weather', input: {} },
          { type: 'input_json_delta', partial_json: '{"place": "Rome"}' },
        ) +
        event('message_delta', { delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 5 } }) +
        event('message_stop', {}),
    });
    const access = {
      provider: 'anthropic',
      baseUrl: `${server.url}/v1`,
      apiKey: 'k',
      model: 'claude-haiku-5-5',
    } as const;
    const content = contentOf(await turn({ ...access, tools: [weather] }));
    expect(content.map(({ type }) => type)).toEqual(['reasoning', 'reasoning', 'tool_call']);
    server.reply({ text: 'It rains.' });
    await turn({ ...access, tools: [weather], messages: followed(content), toolChoice: 'none' });
    expect(server.requests[1]?.body).toMatchObject({
      system: [{ text: 'Be brief.', cache_control: { type: 'ephemeral' } }],
      messages: [
        { role: 'user' },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'I look.', signature },
            { type: 'redacted_thinking', data: 'c2VjcmV0' },
            { type: 'tool_use', id: 'toolu_1', name: 'weather', input: { place: 'Rome' } },
          ],
        },
        {
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: 'toolu_1', cache_control: { type: 'ephemeral' } }],
        },
      ],
      tools: [{ name: 'weather' }],
      tool_choice: { type: 'none' },
    });
  });

  test('returns encrypted reasoning to OpenAI, which is told to store nothing', async () => {
    const event = (type: string, fields: object) =>
      `data: ${JSON.stringify({ type, sequence_number: 0, ...fields })}\n\n`;
    const reasoning = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'Z0FBQUFBQm8=' };
    const call = {
      type: 'function_call',
      id: 'fc_1',
      call_id: 'call_a',
      name: 'weather',
      arguments: '{"place":"Rome"}',
      status: 'completed',
    };
    const usage = { input_tokens: 3, output_tokens: 2, total_tokens: 5 };
    server.reply({
      text: '',
      raw:
        event('response.output_item.added', { output_index: 1, item: { ...reasoning, encrypted_content: null } }) +
        event('response.output_item.done', { output_index: 1, item: reasoning }) +
        event('response.output_item.added', {
          output_index: 2,
          item: { ...call, arguments: '', status: 'in_progress' },
        }) +
        event('response.output_item.done', { output_index: 2, item: call }) +
        event('response.completed', { response: { usage } }),
    });
    const access = { provider: 'openai', baseUrl: `${server.url}/v1`, apiKey: 'k', model: 'gpt-5' } as const;
    const content = contentOf(await turn({ ...access, tools: [weather] }));
    server.reply({ text: 'It rains.' });
    await turn({ ...access, tools: [weather], messages: followed(content) });
    expect(server.requests[0]?.body).toMatchObject({ store: false, include: ['reasoning.encrypted_content'] });
    const input = (server.requests[1]?.body.input ?? []) as JsonObject[];
    expect(input.filter(({ type }) => type !== undefined)).toMatchObject([
      { type: 'reasoning', id: 'rs_1', encrypted_content: 'Z0FBQUFBQm8=' },
      { type: 'function_call', call_id: 'call_a', arguments: '{"place":"Rome"}' },
      { type: 'function_call_output', call_id: 'call_a', output: 'Rain.' },
    ]);
  });

  test('returns the signature of a call to Google', async () => {
    const call = { functionCall: { name: 'weather', args: { place: 'Rome' } }, thoughtSignature: 'CpcBAb4+9vs=' };
    const candidate = { content: { role: 'model', parts: [call] }, index: 0, finishReason: 'STOP' };
    server.reply({ text: [], raw: `data: ${JSON.stringify({ candidates: [candidate] })}\n\n` });
    const access = {
      provider: 'google',
      baseUrl: `${server.url}/v1beta`,
      apiKey: 'k',
      model: 'gemini-2.5-pro',
    } as const;
    const content = contentOf(await turn({ ...access, tools: [weather] }));
    expect(content).toMatchObject([{ type: 'tool_call', name: 'weather', arguments: { place: 'Rome' } }]);
    server.reply({ text: 'It rains.' });
    await turn({ ...access, tools: [weather], messages: followed(content) });
    expect(server.requests[1]?.body).toMatchObject({
      contents: [
        { role: 'user' },
        { role: 'model', parts: [call] },
        { role: 'user', parts: [{ functionResponse: { name: 'weather' } }] },
      ],
      tools: [{ functionDeclarations: [{ name: 'weather' }] }],
    });
  });

  test('returns calls and results to Mistral', async () => {
    const call = { id: 'abcdefghi', function: { name: 'weather', arguments: '{"place": "Rome"}' }, index: 0 };
    const chunk = (delta: object, finish_reason: string | null) =>
      `data: ${JSON.stringify({ id: 'x', choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
    server.reply({ text: [], raw: chunk({ role: 'assistant', content: '', tool_calls: [call] }, 'tool_calls') });
    const access = {
      provider: 'mistral',
      baseUrl: `${server.url}/mistral/v1`,
      apiKey: 'k',
      model: 'mistral-large-latest',
    } as const;
    const reply = await turn({ ...access, tools: [weather] });
    expect(reply).toMatchObject({
      finish: 'tool_calls',
      content: [{ type: 'tool_call', arguments: { place: 'Rome' } }],
    });
    server.reply({ text: 'It rains.' });
    await turn({ ...access, tools: [weather], messages: followed(contentOf(reply)) });
    expect((server.requests[1]?.body.messages as JsonObject[] | undefined)?.slice(2)).toMatchObject([
      { role: 'assistant', tool_calls: [{ id: 'abcdefghi', function: { arguments: '{"place": "Rome"}' } }] },
      { role: 'tool', tool_call_id: 'abcdefghi', content: 'Rain.' },
    ]);
  });

  test('names the tools even if none may be called, and sends each kind of result', async () => {
    script({ match: {}, content: [{ text: 'Done.' }] });
    const call = (id: string): ContentPart => ({ type: 'tool_call', id, name: 'weather', arguments: {} });
    const outputs = [
      { type: 'text', value: 'Rain.' },
      { type: 'json', value: { rain: true } },
      { type: 'error', value: 'No such place.' },
      { type: 'denied', reason: 'Ada said no.' },
    ] as const;
    const messages: TurnMessage[] = [
      ...hello,
      { role: 'assistant', content: outputs.map((_, at) => call(`c${at}`)) },
      {
        role: 'tool',
        content: outputs.map((output, at) => ({ type: 'tool_result', id: `c${at}`, name: 'weather', output })),
      },
    ];
    await turn({ tools: [weather], toolChoice: 'none', messages });
    expect(sent(0)).toMatchObject({ tool_choice: 'none', tools: [{ function: { name: 'weather' } }] });
    expect(
      sent(0)
        .messages.slice(3)
        .map(({ content }) => content),
    ).toEqual(['Rain.', '{"rain":true}', 'No such place.', 'Ada said no.']);
  });
});

describe('a form', () => {
  test('is checked if no tool is called, and is described in the instructions if one may be called', async () => {
    script(
      { content: [{ text: '{"name":"Ada"}' }] },
      { content: [{ text: 'Ada' }] },
      { content: [{ calls: [{ name: 'weather' }] }] },
    );
    expect(await turn({ object: person })).toMatchObject({ object: { name: 'Ada' } });
    expect(await turn({ object: person, tools: [weather] })).toMatchObject({
      kind: 'failed',
      code: 'response_schema_mismatch',
      retryable: true,
      usage: { output: 1 },
    });
    expect(await turn({ object: person, tools: [weather] })).toMatchObject({ finish: 'tool_calls' });
    expect(sent(0)).toMatchObject({ response_format: { type: 'json_schema' } });
    expect(sent(1)).not.toHaveProperty('response_format');
    expect(sent(1).messages[0]?.content).toContain('"name"');
  });
});

describe('a failure', () => {
  test.each([
    ['OpenAI', { status: 400, code: 'context_length_exceeded', message: 'Too long.' }],
    ['Anthropic', { status: 400, message: 'prompt is too long: 210000 tokens > 200000 maximum' }],
    [
      'Google',
      {
        status: 400,
        message: 'The input token count (1200000) exceeds the maximum number of tokens allowed (1048575).',
      },
    ],
    [
      'Mistral',
      { status: 400, message: 'Prompt contains 40000 tokens, too large for model with 32768 maximum context length' },
    ],
    [
      'vLLM',
      {
        status: 400,
        message: "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens.",
      },
    ],
    [
      'llama.cpp',
      { status: 400, code: 'exceed_context_size_error', message: 'the request exceeds the available context size' },
    ],
  ])('says that the conversation is too long, as %s does', async (_, error) => {
    script({ error });
    expect(await turn()).toMatchObject({ kind: 'failed', code: 'context_length_exceeded', retryable: false });
  });

  test('in the middle of a stream may also say that the conversation is too long', async () => {
    const error = { message: "This model's maximum context length is 4096 tokens." };
    script({ content: [{ text: 'Hel' }, { raw: `data: ${JSON.stringify({ error })}\n\n` }] });
    expect(await turn()).toMatchObject({ code: 'context_length_exceeded', retryable: false });
  });

  test('keeps all others unchanged: 400, 429 with its delay, 500, a broken connection', async () => {
    script(
      { error: { status: 400, message: 'Unknown parameter.' } },
      { error: { status: 429, headers: { 'Retry-After': '7' } } },
      { error: { status: 500 } },
      { content: [{ text: 'Hel' }, { hang_up: true }] },
    );
    expect(await turn()).toMatchObject({ code: 'model_request_invalid', retryable: false });
    expect(await turn()).toMatchObject({ code: 'model_rate_limited', retryable: true, retryAfterMs: 7_000 });
    expect(await turn()).toMatchObject({ code: 'model_unavailable', retryable: true });
    expect(await turn()).toMatchObject({ code: 'model_unavailable', retryable: true });
  });

  test('is a cancellation, which the provider sees', async () => {
    script({ content: [{ text: 'Hel' }, { silence: true }] });
    const stop = new AbortController();
    const reply = askTurn(
      {
        provider: 'openai_compatible',
        baseUrl: fake.url,
        model: 'scripted',
        messages: hello,
        tools: [],
        toolChoice: 'auto',
      },
      {
        fetch,
        clock: new ManualClock(),
        signal: stop.signal,
        redactor: createRedactor([]),
        onPiece: () => stop.abort(),
      },
    );
    expect(await reply).toMatchObject({ kind: 'failed', code: 'cancelled', retryable: false });
    await fake.requests[0]?.left;
  });

  test('is more than 1 MiB of arguments; of a text, what was shown until then is the answer', async () => {
    const limit = 1024 * 1024;
    script({ content: [{ text: 'x'.repeat(limit) }] }, { content: [{ text: ['x'.repeat(limit), 'yz'] }] });
    expect(await turn()).toMatchObject({ kind: 'answer', finish: 'stop' });
    expect(await turn()).toMatchObject({
      kind: 'answer',
      finish: 'length',
      content: [{ type: 'text', text: 'x'.repeat(limit) }],
    });
    // Each takes six bytes as JSON.
    const most = Math.floor(limit / 6);
    script({ content: [{ text: '\u0001'.repeat(most + 9) }] });
    expect(await turn()).toMatchObject({ finish: 'length', content: [{ text: '\u0001'.repeat(most) }] });
    script({ content: [{ raw: toolCallFrame('x'.repeat(limit)) }] });
    expect(await turn()).toMatchObject({ code: 'model_answer_too_large' });
  });
});

/** Returns one event with a whole call, because the fake model sends arguments in many small pieces. */
function toolCallFrame(args: string): string {
  const delta = { tool_calls: [{ index: 0, id: 'a', type: 'function', function: { name: 'x', arguments: args } }] };
  return `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: null }] })}\n\n`;
}

describe('a secret', () => {
  test('is cut out of text, reasoning, arguments, names, metadata, pieces and messages', async () => {
    const secret = 'sk-live-0123456789';
    const halves = [`It is ${secret.slice(0, 7)}`, `${secret.slice(7)}, and sk-li`, 'ke is not.'];
    const calls = [{ name: secret, arguments: { key: secret, all: `x${secret}` }, signature: secret }];
    script(
      { content: [{ reasoning: halves }, { text: halves }, { calls }] },
      { error: { status: 400, message: `Bad ${secret}.` } },
    );
    const reply = await turn({}, { secrets: [secret] });
    expect(reply).toMatchObject({
      content: [
        { text: 'It is [redacted], and sk-like is not.' },
        { text: 'It is [redacted], and sk-like is not.' },
        { name: '[redacted]', arguments: { key: '[redacted]', all: 'x[redacted]' } },
      ],
    });
    contentOf(reply).forEach((part, at) => {
      if (part.type !== 'tool_call') expect(joined(reply.pieces, at)).toBe(part.text);
    });
    expect(JSON.stringify([reply, await turn({}, { secrets: [secret] })])).not.toMatch(/sk-live|0123456789/);
  });
});

describe('the fake model', () => {
  test('declines, and fails inside a 200', async () => {
    script(
      { content: [{ refusal: 'I would rather not.' }] },
      { error: { status: 200, message: 'Too fast.', code: 'rate_limit_exceeded' } },
    );
    const declined = {
      code: 'model_refused',
      message: expect.stringContaining('I would rather not.'),
      retryable: false,
    };
    expect(await turn()).toMatchObject(declined);
    expect(await turn()).toMatchObject({ code: 'model_rate_limited', message: expect.stringContaining('Too fast.') });
  });
});
