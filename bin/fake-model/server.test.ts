import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ScriptInput } from './script.ts';
import { type FakeModel, startFakeModel } from './server.ts';

let fake: FakeModel;
beforeAll(async () => {
  fake = await startFakeModel();
});
beforeEach(() => {
  fake.script({});
  fake.requests.length = 0;
});
afterAll(() => fake.close());

const provider = () => createOpenAICompatible({ name: 'fake', baseURL: fake.url, includeUsage: true });
type Options = Parameters<ReturnType<ReturnType<typeof provider>['chatModel']>['doStream']>[0];

const userMessage = (text: string): Options['prompt'] => [{ role: 'user', content: [{ type: 'text', text }] }];
const tool = (name: string, properties: Record<string, object> = {}, required: string[] = []) => ({
  type: 'function' as const,
  name,
  inputSchema: { type: 'object' as const, properties, required },
});

/** Returns a stream as the provider's library reads it, with deltas joined. */
async function stream(options: Partial<Options> = {}) {
  const { stream } = await provider()
    .chatModel('scripted')
    .doStream({ prompt: userMessage('Hello'), ...options });
  const read = { text: '', reasoning: '', pieces: [] as string[], calls: [] as object[], errors: [] as unknown[] };
  let finish: unknown;
  let usage: unknown;
  for await (const part of stream) {
    if (part.type === 'text-delta') {
      read.text += part.delta;
      read.pieces.push(part.delta);
    }
    if (part.type === 'reasoning-delta') read.reasoning += part.delta;
    if (part.type === 'tool-call') read.calls.push(part);
    if (part.type === 'error') read.errors.push(part.error);
    if (part.type === 'finish') [finish, usage] = [part.finishReason.unified, part.usage];
  }
  return { ...read, finish, usage };
}

const script = (...answers: NonNullable<ScriptInput['answers']>) => fake.script({ answers });

test('arguments of calls take values from the last message, as JSON or in its last line', async () => {
  const args = {
    id: '{{last.order.id}}',
    line: '{{last.order.lines.1.sku}}',
    kept: 'no {{last.id}}',
    gone: '{{last.nothing}}',
  };
  const content = [{ calls: [{ name: 'find', arguments: args }] }];
  fake.script({ answers: [{ content }, { content }] });
  const order = JSON.stringify({ order: { id: 7, lines: [{}, { sku: 'b' }] } });
  for (const text of [order, `About this:\n${order}`]) {
    const { calls } = await stream({ prompt: userMessage(text), tools: [tool('find')] });
    expect(JSON.parse((calls[0] as { input: string }).input)).toEqual({
      id: 7,
      line: 'b',
      kept: 'no {{last.id}}',
      gone: null,
    });
  }
});

test('arguments of calls take the newest word with the given prefix', async () => {
  const args = { order: '{{seen.ORDER-}}', gone: '{{seen.BILL-}}', kept: 'no {{seen.ORDER-}}' };
  fake.script({ answers: [{ content: [{ calls: [{ name: 'find', arguments: args }] }] }] });
  const { calls } = await stream({ prompt: userMessage('Of ORDER-7 and of ORDER-8.'), tools: [tool('find')] });
  const given = JSON.parse((calls[0] as { input: string }).input);
  expect(given).toEqual({ order: 'ORDER-8', gone: null, kept: 'no {{seen.ORDER-}}' });
});

describe('a script', () => {
  test('is answered in order, then the server says that it has ended', async () => {
    script({ content: [{ text: 'One.' }] }, { content: [{ text: 'Two.' }] });
    expect([(await stream()).text, (await stream()).text]).toEqual(['One.', 'Two.']);
    await expect(stream()).rejects.toMatchObject({ statusCode: 400, message: expect.stringContaining('no answer') });
    expect(fake.requests).toHaveLength(3);
  });

  test('is matched by content: the last message, any, the turn, the model, a tool', async () => {
    script(
      { match: { turn: 1 }, content: [{ text: 'by turn' }] },
      { match: { last: 'weather' }, content: [{ text: 'by last' }] },
      { match: { any: 'secretary' }, content: [{ text: 'by any' }] },
      { match: { tool: 'add' }, content: [{ text: 'by tool' }] },
      { match: { model: 'another' }, content: [{ text: 'by model' }] },
      { content: [{ text: 'once' }], times: 1 },
    );
    const instructed: Options['prompt'] = [
      { role: 'system', content: 'You are a secretary.' },
      ...userMessage('Hello'),
    ];
    const later: Options['prompt'] = [
      ...userMessage('What weather?'),
      { role: 'assistant', content: [{ type: 'text', text: 'Rain.' }] },
      ...userMessage('Thanks'),
    ];
    const readText = async (options: Partial<Options>) => (await stream(options)).text;
    expect(await readText({ prompt: later })).toBe('by turn');
    expect(await readText({ prompt: userMessage('What weather?') })).toBe('by last');
    expect(await readText({ prompt: userMessage('What weather?') }), 'as often as it fits').toBe('by last');
    expect(await readText({ prompt: instructed })).toBe('by any');
    expect(await readText({ tools: [tool('add')] })).toBe('by tool');
    expect(await readText({})).toBe('once');
    await expect(stream()).rejects.toMatchObject({ statusCode: 400 });
  });

  test('sends text in its pieces, reasoning, parallel calls and usage', async () => {
    const args = { place: 'Rome', note: 'long enough for several pieces' };
    script({
      content: [
        { reasoning: ['I should ', 'look.'] },
        { text: ['Let me ', 'look.'] },
        {
          calls: [
            { name: 'weather', arguments: args, signature: 'c2lnbmF0dXJl' },
            { name: 'news', arguments: { place: 'Oslo' }, id: 'own-id' },
          ],
        },
      ],
      usage: { input: 20, output: 9, cached: 5, reasoning: 4 },
    });
    expect(await stream({ tools: [tool('weather'), tool('news')] })).toMatchObject({
      reasoning: 'I should look.',
      pieces: ['Let me ', 'look.'],
      calls: [
        {
          toolCallId: 'call_1',
          toolName: 'weather',
          input: JSON.stringify(args),
          providerMetadata: { fake: { thoughtSignature: 'c2lnbmF0dXJl' } },
        },
        { toolCallId: 'own-id', toolName: 'news', input: '{"place":"Oslo"}' },
      ],
      finish: 'tool-calls',
      usage: { inputTokens: { total: 20, cacheRead: 5 }, outputTokens: { total: 9, reasoning: 4 } },
    });
  });

  test('sends malformed arguments and unknown tools as they are', async () => {
    script({ content: [{ calls: [{ name: 'nowhere', arguments: '{"place": ' }] }] });
    expect(await stream()).toMatchObject({ calls: [{ toolName: 'nowhere', input: '{"place": ' }], errors: [] });
  });

  test('sends an estimate of the usage, or none', async () => {
    script({ content: [{ text: 'Hi.' }] }, { content: [{ text: 'Hi.' }], usage: null });
    expect(await stream()).toMatchObject({ usage: { inputTokens: { total: 2 }, outputTokens: { total: 1 } } });
    expect(await stream()).toMatchObject({ usage: { inputTokens: { total: undefined } } });
  });

  test('declines in its own words, in a stream and without', async () => {
    const answer = { match: {}, content: [{ refusal: 'I would rather not.' }] };
    script(answer);
    expect(await stream()).toMatchObject({ text: 'I would rather not.', finish: 'content-filter' });
    const { content, finishReason } = await provider()
      .chatModel('scripted')
      .doGenerate({ prompt: userMessage('Hello') });
    expect([content, finishReason.unified]).toEqual([
      [{ type: 'text', text: 'I would rather not.' }],
      'content-filter',
    ]);
  });

  test('refuses: 429 with Retry-After, 500, context_length_exceeded', async () => {
    script(
      { error: { status: 429, headers: { 'Retry-After': '7' } } },
      { error: { status: 500 } },
      { error: { status: 400, code: 'context_length_exceeded', message: 'Too long.' } },
    );
    await expect(stream()).rejects.toMatchObject({ statusCode: 429, responseHeaders: { 'retry-after': '7' } });
    await expect(stream()).rejects.toMatchObject({ statusCode: 500, isRetryable: true });
    await expect(stream()).rejects.toMatchObject({
      statusCode: 400,
      responseBody: expect.stringContaining('"context_length_exceeded"'),
    });
  });

  test('hangs up after a piece, and sends malformed events', async () => {
    script({ content: [{ text: 'Hel' }, { hang_up: true }] }, { content: [{ raw: 'data: {"broken": \n\n' }] });
    await expect(stream()).rejects.toThrow();
    expect((await stream()).errors).toHaveLength(1);
  });

  test('holds a piece until its gate is released, which then stays open', async () => {
    script({ match: {}, content: [{ text: 'Be' }, { hold: 'gate' }, { text: 'fore' }] });
    const held = stream();
    await Promise.race([fake.held('gate'), held]);
    fake.release('gate');
    expect((await held).text).toBe('Before');
    expect((await stream()).text, 'the gate stays open').toBe('Before');
  });

  test('is silent until the client leaves, which it records', async () => {
    script({ content: [{ text: 'Hel' }, { silence: true }] });
    const leaving = new AbortController();
    const { stream } = await provider()
      .chatModel('scripted')
      .doStream({ prompt: userMessage('Hello'), abortSignal: leaving.signal });
    const reading = (async () => {
      for await (const part of stream) if (part.type === 'text-delta') leaving.abort();
    })();
    await expect(reading).rejects.toThrow();
    await fake.requests[0]?.left;
  });

  test('is answered as one document to a request without stream', async () => {
    script({
      content: [{ reasoning: 'Hm.' }, { text: ['Hel', 'lo.'] }, { calls: [{ name: 'add', arguments: { a: 1 } }] }],
    });
    const { content } = await provider()
      .chatModel('scripted')
      .doGenerate({ prompt: userMessage('Hello') });
    expect(content).toMatchObject([
      { type: 'reasoning', text: 'Hm.' },
      { type: 'text', text: 'Hello.' },
      { type: 'tool-call', toolName: 'add', input: '{"a":1}' },
    ]);
  });

  test('is refused if it is invalid, with the place of the mistake', () => {
    const load = (answer: object) => () => fake.script({ answers: [answer] } as unknown as ScriptInput);
    expect(load({ contnt: [] })).toThrow(/content: Invalid input.*Unrecognized key: \\"contnt/);
    expect(load({ error: { status: 99 } })).toThrow(/Too small/);
    expect(load({ content: [{ text: 'Hi.', reasonin: '' }] })).toThrow(/Unrecognized key: \\+"reasonin/);
    expect(load({ content: [{ calls: [{ arguments: {} }] }] })).toThrow(/calls: 0: name: Invalid input/);
  });
});

describe('without a script', () => {
  test('it uses the first tool once, with arguments that fit, and then repeats the result', async () => {
    const search = tool('search', { query: { type: 'string' }, most: { type: 'integer', minimum: 3 } }, [
      'query',
      'most',
    ]);
    const first = await stream({ prompt: userMessage('Find cats'), tools: [search, tool('other')] });
    expect(first).toMatchObject({
      finish: 'tool-calls',
      calls: [{ toolName: 'search', input: '{"query":"Find cats","most":3}' }],
    });
    const prompt: Options['prompt'] = [
      ...userMessage('Find cats'),
      { role: 'assistant', content: [{ type: 'tool-call', toolCallId: 'call_1', toolName: 'search', input: {} }] },
      {
        role: 'tool',
        content: [
          { type: 'tool-result', toolCallId: 'call_1', toolName: 'search', output: { type: 'text', value: '9 cats' } },
        ],
      },
    ];
    const second = await stream({ prompt, tools: [search] });
    expect(second).toMatchObject({ finish: 'stop', calls: [], text: expect.stringContaining('- 9 cats') });
  });

  test('it uses the tools that the person names, none if none may be used, and fills a schema', async () => {
    const tools = [tool('first'), tool('add'), tool('convert')];
    const both = await stream({ prompt: userMessage('Use Convert and add.'), tools });
    expect(both.calls).toMatchObject([{ toolName: 'add' }, { toolName: 'convert' }]);
    const none = await stream({ tools, toolChoice: { type: 'none' } });
    expect(none).toMatchObject({ calls: [], text: expect.stringContaining('You said: Hello') });
    const structured = createOpenAICompatible({ name: 'fake', baseURL: fake.url, supportsStructuredOutputs: true });
    const { content } = await structured.chatModel('scripted').doGenerate({
      prompt: userMessage('Ada'),
      responseFormat: {
        type: 'json',
        schema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
      },
    });
    expect(content).toEqual([{ type: 'text', text: '{"name":"Ada"}' }]);
  });
});

describe('embeddings', () => {
  const cosine = (a: number[] = [], b: number[] = []) => a.reduce((sum, value, at) => sum + value * (b[at] ?? 0), 0);
  const embed = async (values: string[], dimensions?: number) =>
    (await provider().embeddingModel('scripted-embedding').doEmbed({ values, dimensions })).embeddings;

  test('are the same for the same text, near for synonyms and shared words, far for others', async () => {
    const texts = [
      'car',
      'automobile',
      'pear',
      'My car is broken',
      'The automobile is faulty',
      'Rain is expected in Oslo',
    ];
    const [car, automobile, pear, broken, faulty, rain] = await embed(texts);
    expect(await embed(['car'])).toEqual([car]);
    expect(cosine(car, car)).toBeCloseTo(1);
    expect(cosine(car, automobile)).toBeGreaterThan(0.8);
    expect(cosine(car, pear)).toBeLessThan(0.3);
    expect(cosine(broken, faulty)).toBeGreaterThan(0.7);
    expect(cosine(broken, rain)).toBeLessThan(0.2);
  });

  test('take synonyms and dimensions, and an empty text', async () => {
    const before = await embed(['gizmo', 'widget']);
    expect(cosine(...(before as [number[], number[]]))).toBeLessThan(0.5);
    fake.script({ synonyms: [['gizmo', 'widget']] });
    const [gizmo, widget, empty] = await embed(['gizmo', 'widget', ''], 64);
    expect(cosine(gizmo, widget)).toBeGreaterThan(0.8);
    expect([gizmo?.length, cosine(empty, empty)]).toEqual([64, 1]);
  });

  test('are packed if the client requests that, as the official clients do', async () => {
    const post = (body: object) =>
      fetch(`${fake.url}/embeddings`, { method: 'POST', body: JSON.stringify({ model: 'e', input: 'car', ...body }) });
    const packed = (await (await post({ encoding_format: 'base64' })).json()) as { data: { embedding: string }[] };
    const bytes = Buffer.from(packed.data[0]?.embedding ?? '', 'base64');
    const [plain] = await embed(['car']);
    const unpacked = new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
    expect([...unpacked]).toEqual([...Float32Array.from(plain ?? [])]);
  });
});

describe('the server', () => {
  const at = (path: string, init?: RequestInit) => fetch(new URL(path, fake.url), init);

  test('lists models, and refuses what it does not know or cannot read', async () => {
    expect(await (await at('/v1/models')).json()).toMatchObject({
      data: [{ id: 'scripted' }, { id: 'scripted-embedding' }],
    });
    expect((await at('/v1/nothing')).status).toBe(404);
    expect((await at('/v1/completions', { method: 'POST' })).status).toBe(404);
    expect((await at('/v1/chat/completions', { method: 'POST', body: 'no JSON' })).status).toBe(400);
    expect((await at('/v1/embeddings', { method: 'POST', body: '{}' })).status).toBe(400);
  });

  test('is controlled over HTTP: script, gates, the requests without their keys', async () => {
    const putScript = (body: object) => at('/control/script', { method: 'PUT', body: JSON.stringify(body) });
    expect((await putScript({ answers: [{ nonsense: true }] })).status).toBe(400);
    expect((await putScript({ answers: [{ content: [{ hold: 'gate' }, { text: 'Hi.' }] }] })).status).toBe(200);
    const asked = stream({ headers: { Authorization: 'Bearer sk-very-secret', 'Idempotency-Key': 'run:step' } });
    await Promise.race([fake.held('gate'), asked]);
    expect(await (await at('/control/held')).json()).toEqual({ gates: ['gate'] });
    expect((await at('/control/release', { method: 'POST', body: '{"gate":"gate"}' })).status).toBe(200);
    expect((await asked).text).toBe('Hi.');
    const recorded = await (await at('/control/requests')).text();
    expect(JSON.parse(recorded)).toMatchObject({
      requests: [{ path: '/v1/chat/completions', headers: { 'idempotency-key': 'run:step' }, body: { stream: true } }],
    });
    expect(recorded).not.toContain('sk-very-secret');
    expect((await at('/control/requests', { headers: { Origin: 'https://evil.example' } })).status).toBe(403);
    expect((await at('/control/nothing')).status).toBe(404);
  });
});
