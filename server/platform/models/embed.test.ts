import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type FakeModel, startFakeModel } from '../../../bin/fake-model/server.ts';
import { json, startHttpServer } from '../../testing/http-server.ts';
import { ManualClock } from '../clock.ts';
import { type Embeddings, embedTexts, MAX_DIMENSIONS } from './embed.ts';
import type { ModelAccess } from './providers.ts';

let fake: FakeModel;
beforeAll(async () => {
  fake = await startFakeModel();
});
beforeEach(() => {
  fake.requests.length = 0;
});
afterAll(() => fake.close());

const embed = (
  texts: readonly string[],
  access: Partial<ModelAccess> = {},
  signal = new AbortController().signal,
): Promise<Embeddings> =>
  embedTexts({ provider: 'openai_compatible', baseUrl: fake.url, model: 'scripted-embedding', ...access }, texts, {
    fetch,
    clock: new ManualClock(),
    signal,
  });
const vectorsOf = (embeddings: Embeddings) => (embeddings.kind === 'vectors' ? embeddings.vectors : []);

test('returns a vector for each text in their order, and the tokens', async () => {
  const both = await embed(['car', 'pear']);
  expect(both).toMatchObject({ kind: 'vectors', tokens: 2 });
  expect(vectorsOf(both)).toEqual([vectorsOf(await embed(['car']))[0], vectorsOf(await embed(['pear']))[0]]);
  expect(await embed([])).toEqual({ kind: 'vectors', vectors: [], tokens: 0 });
});

test('sends at most 64 texts in a request, and loses none', async () => {
  const texts = Array.from({ length: 65 }, (_, at) => `text ${at}`);
  const vectors = vectorsOf(await embed(texts));
  expect(fake.requests.map(({ body }) => (body as { input: string[] }).input.length)).toEqual([64, 1]);
  expect(vectors).toHaveLength(65);
  expect(vectors[64]).toEqual(vectorsOf(await embed(['text 64']))[0]);
  fake.requests.length = 0;
  await embed(texts.slice(0, 64));
  expect(fake.requests).toHaveLength(1);
});

const answering = async (data: number[][], use: (url: string) => Promise<void>) => {
  const body = { data: data.map(embedding => ({ embedding })) };
  const server = await startHttpServer({ '/v1/embeddings': json(body) });
  try {
    await use(`${server.url}/v1`);
  } finally {
    await server.close();
  }
};

test.each([
  ['too few', [[1, 2]], 'failed'],
  ['of different lengths', [[1, 2], [1]], 'failed'],
  ['empty', [[], []], 'failed'],
  ['as long as any may be', [new Array(MAX_DIMENSIONS).fill(1), new Array(MAX_DIMENSIONS).fill(0)], 'vectors'],
  ['longer', [new Array(MAX_DIMENSIONS + 1).fill(1), new Array(MAX_DIMENSIONS + 1).fill(0)], 'failed'],
])('vectors that are %s', async (_, data, kind) => {
  await answering(data, async baseUrl => {
    const answer = await embed(['a', 'b'], { baseUrl });
    expect(answer.kind).toBe(kind);
    if (kind === 'failed') expect(answer).toMatchObject({ code: 'model_answer_malformed', retryable: false });
  });
});

test('says why there are no vectors: no such server, a provider without embeddings, cancelled', async () => {
  expect(await embed(['a'], { baseUrl: `${new URL(fake.url).origin}/nowhere` })).toMatchObject({
    code: 'model_not_found',
  });
  expect(await embed(['a'], { provider: 'anthropic' })).toMatchObject({ code: 'model_unsuited', retryable: false });
  const stopped = AbortSignal.abort();
  expect(await embed(['a'], {}, stopped)).toMatchObject({ code: 'cancelled', retryable: false });
  const gone = await startFakeModel();
  await gone.close();
  expect(await embed(['a'], { baseUrl: gone.url })).toMatchObject({ code: 'model_unavailable', retryable: true });
});
