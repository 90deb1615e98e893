import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type FakeModel, startFakeModel } from '../../../bin/fake-model/server.ts';
import { scopes } from '../../orchestrator/ports/authority.ts';
import type { TurnCaller, TurnPiece, TurnRequest } from '../../orchestrator/steps/agent/turn-caller.ts';
import { startTestContainer, type TestContainer } from '../../testing/container.ts';
import { createTestPat, createTestTenant, type TestTenant } from '../../testing/identity.ts';
import { createEmbed } from './embed.ts';
import { createTurnCaller } from './turn-caller.ts';

const KEY = 'sk-live-0123456789abcdefghij';
let service: TestContainer;
let fake: FakeModel;
let turns: TurnCaller;
let acme: TestTenant;
let other: TestTenant;

beforeAll(async () => {
  fake = await startFakeModel();
  service = await startTestContainer({ BATON_ALLOW_PRIVATE_NETWORK: '127.0.0.1/32' });
  const { services } = service.container;
  turns = createTurnCaller(services);
  acme = await createTestTenant(services, { slug: 'acme' });
  other = await createTestTenant(services, { slug: 'other' });
  const { token } = await createTestPat(services, acme.owner, scopes);
  const added = await fetch(`${service.url}/v1/llm-provider-keys`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ provider: 'openai_compatible', api_key: KEY, base_url: fake.url, models: ['scripted'] }),
  });
  expect(added.status).toBe(201);
});
beforeEach(() => {
  fake.requests.length = 0;
});
afterAll(async () => {
  await service.close();
  await fake.close();
});

const request = ({ owner }: TestTenant, more: Partial<TurnRequest> = {}): TurnRequest => ({
  tenantId: owner.tenantId,
  projectId: owner.projectId,
  model: 'openai_compatible/scripted',
  messages: [{ role: 'user', content: [{ type: 'text', text: 'Hello' }] }],
  tools: [],
  toolChoice: 'auto',
  idempotencyKey: 'run:step',
  traceparent: '00-1-2-01',
  ...more,
});
const on = () => {
  const pieces: TurnPiece[] = [];
  return { pieces, signal: new AbortController().signal, onPart: (piece: TurnPiece) => pieces.push(piece) };
};

test('calls with the key of the workspace, and streams the text in pieces', async () => {
  fake.script({ answers: [{ content: [{ text: ['Hel', 'lo.'] }], usage: { input: 9, output: 4, cached: 3 } }] });
  const surroundings = on();
  expect(await turns.turn(request(acme), surroundings)).toEqual({
    kind: 'answer',
    content: [{ type: 'text', text: 'Hello.' }],
    finishReason: 'stop',
    model: 'openai_compatible/scripted',
    usage: { inputTokens: 9, outputTokens: 4, cachedInputTokens: 3 },
    warnings: [],
  });
  expect(surroundings.pieces.map(piece => ('text' in piece ? piece.text : ''))).toEqual(['Hel', 'lo.']);
  expect(fake.requests[0]?.headers).toMatchObject({
    authorization: `Bearer ${KEY}`,
    'idempotency-key': 'run:step',
    traceparent: '00-1-2-01',
  });
});

test('removes the key from the model’s answer', async () => {
  const calls = [{ name: 'send', arguments: { key: KEY } }];
  fake.script({
    answers: [{ content: [{ text: [`Your key is ${KEY.slice(0, 9)}`, KEY.slice(9)] }, { calls }], usage: null }],
  });
  const surroundings = on();
  const answer = await turns.turn(request(acme), surroundings);
  expect(answer).toMatchObject({
    content: [{ text: 'Your key is [redacted]' }, { arguments: { key: '[redacted]' } }],
    finishReason: 'tool_calls',
    // Estimated, because the provider reported none.
    usage: { inputTokens: 2, outputTokens: expect.any(Number), estimated: true },
    warnings: [expect.stringContaining('how many tokens')],
  });
  expect(JSON.stringify([answer, surroundings.pieces])).not.toContain(KEY.slice(9));
});

test('usage that a provider does not report is estimated, also for an interrupted answer; a refused request has none', async () => {
  const text = 'x'.repeat(1_000);
  const conversation = { messages: [{ role: 'user' as const, content: [{ type: 'text' as const, text }] }] };
  const estimate = { inputTokens: 300, outputTokens: 150, estimated: true };
  fake.script({
    answers: [
      { content: [{ text: 'y'.repeat(500) }], usage: null },
      { content: [{ text: 'y'.repeat(500) }, { raw: 'data: {broken\n\n' }] },
      { error: { status: 500 } },
    ],
  });
  expect(await turns.turn(request(acme, conversation), on())).toMatchObject({ kind: 'answer', usage: estimate });
  expect(await turns.turn(request(acme, conversation), on())).toMatchObject({ kind: 'failed', usage: estimate });
  expect(await turns.turn(request(acme, conversation), on())).not.toHaveProperty('usage');
});

test('checks the form of an answer, and reports a conversation that is too long', async () => {
  const responseSchema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] };
  const error = { status: 400, code: 'context_length_exceeded' };
  fake.script({ answers: [{ content: [{ text: '{"n":1}' }] }, { content: [{ text: '{"n":"1"}' }] }, { error }] });
  expect(await turns.turn(request(acme, { responseSchema }), on())).toMatchObject({ object: { n: 1 } });
  expect(await turns.turn(request(acme, { responseSchema }), on())).toMatchObject({
    code: 'response_schema_mismatch',
    message: expect.stringContaining('object.n'),
    usage: { outputTokens: expect.any(Number) },
  });
  expect(await turns.turn(request(acme), on())).toMatchObject({ code: 'context_length_exceeded', retryable: false });
});

test('uses no key of another workspace, and names the problem of a model', async () => {
  expect(await turns.turn(request(other), on())).toMatchObject({ kind: 'failed', code: 'model_key_missing' });
  expect(await turns.turn(request(acme, { model: 'nonsense' }), on())).toMatchObject({ code: 'model_malformed' });
  expect(fake.requests).toEqual([]);
  expect(await turns.check(acme.owner, { model: 'openai_compatible/scripted' })).toEqual([]);
  expect(await turns.check(other.owner, { model: 'openai_compatible/scripted' })).toMatchObject([
    { path: 'model', code: 'model_key_missing' },
  ]);
});

test('embeds texts only with the keys of the workspace', async () => {
  const embed = createEmbed(service.container.services);
  const { signal } = new AbortController();
  const embedFor = ({ owner: { tenantId, projectId } }: TestTenant) =>
    embed({ tenantId, projectId, model: 'openai_compatible/scripted', texts: ['car'] }, signal);
  expect(await embedFor(acme)).toMatchObject({ kind: 'vectors', model: 'openai_compatible/scripted', tokens: 1 });
  expect(fake.requests[0]?.headers.authorization).toBe(`Bearer ${KEY}`);
  expect(await embedFor(other)).toMatchObject({ kind: 'failed', code: 'model_key_missing' });
});
