import fc from 'fast-check';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { Embedder } from '../../../../bin/fake-model/embeddings.ts';
import type { Embed, EmbedAnswer } from '../../../operation/embed.ts';
import { createTestMember } from '../../../testing/identity.ts';
import { createTestMemory, type TestMemory } from '../../../testing/memory.ts';
import { embedPending } from './embed-pending.ts';
import { bitsOf, codesOf, cosine, minCosine } from './quantize.ts';

const embedder = new Embedder();
const closing = new AbortController().signal;
let now = Date.parse('2026-05-01T00:00:00Z');

/** The requests to the fake model, which behaves according to `state`. */
const asked: { model: string; texts: readonly string[]; projectId: string }[] = [];
let state: 'well' | 'away' | 'silent' | { dimensions: number } | { refuses: string } = 'well';
const embed: Embed = async ({ model, texts, projectId }, signal): Promise<EmbedAnswer> => {
  asked.push({ model, texts, projectId });
  const failed = { kind: 'failed', message: 'no', retryable: true } as const;
  if (state === 'away') return { ...failed, code: 'model_unavailable' };
  if (state === 'silent') {
    if (!signal.aborted) await new Promise(resolve => signal.addEventListener('abort', resolve));
    return { ...failed, code: 'cancelled' };
  }
  if (typeof state === 'object' && 'refuses' in state) {
    const { refuses } = state;
    if (texts.some(text => text.includes(refuses)))
      return { ...failed, code: 'model_request_invalid', retryable: false };
  }
  if (model === 'openai/none') return { ...failed, code: 'model_unsuited', retryable: false };
  const dimensions =
    typeof state === 'object' && 'dimensions' in state ? state.dimensions : model.endsWith('large') ? 512 : 256;
  // The second model negates every vector, so that comparing vectors of both models would be noticed.
  const sign = model.endsWith('large') ? -1 : 1;
  return { kind: 'vectors', vectors: texts.map(text => embedder.embed(text, dimensions).map(value => value * sign)) };
};

let memory: TestMemory;
const open: TestMemory[] = [];
beforeEach(async () => {
  state = 'well';
  now = Date.parse('2026-05-01T00:00:00Z');
  memory = await createTestMemory({ embed: request, clock: { now: () => now } });
  open.push(memory);
});
// Each memory has its own port, because pauses belong to a port.
const request: Embed = (...args) => embed(...args);
afterAll(async () => {
  for (const each of open) await each.close();
});

const use = (embedding_model: string | null) =>
  memory.call(memory.tenant.owner, 'memory_settings_patch', { embedding_model });
const embedAll = async () => {
  while (await embedPending(memory.services, closing));
};
const count = async (table: string) =>
  (await memory.db.pool.query(`SELECT space, count(*)::int AS count FROM ${table} GROUP BY space ORDER BY space`)).rows;

const turns: [string, string][] = [
  ['user', 'The automobile is in the garage.'],
  ['user', 'Our physician recommends long walks.'],
  ['user', 'Invoices are paid on the first of the month.'],
];

describe('search by meaning', () => {
  test('finds a memory that has no word of the query', async () => {
    const { owner } = memory.tenant;
    await memory.said(owner, turns);
    expect(await memory.find(owner, 'where is my vehicle?')).toEqual([]);
    expect(await use('openai/small')).toEqual({
      embedding_model: 'openai/small',
      dimensions: 256,
      pending: 3,
      ready: false,
    });
    const early = await memory.search(owner, 'where is my vehicle?');
    expect(early).toMatchObject({
      hits: [],
      signals: ['text', 'trigram', 'subject', 'vector', 'recency'],
      degraded: ['vector'],
    });
    await embedAll();
    const found = await memory.search(owner, 'where is my vehicle?', { explain: true });
    expect(found.degraded).toEqual([]);
    expect(found.hits[0]).toMatchObject({ text: turns[0]?.[1], ranks: { vector: 1 } });
    expect((await memory.find(owner, 'doctor'))[0]).toBe(turns[1]?.[1]);
    expect(await memory.find(owner, 'xylophone quartet')).toEqual([]);
    expect(await memory.call(owner, 'memory_settings_get')).toMatchObject({ pending: 0, ready: true });
    // Only keys of the whole workspace are used.
    expect(asked.every(({ projectId }) => projectId.startsWith('00000000'))).toBe(true);
  });

  test('orders texts that have the same words of the query', async () => {
    const { owner } = memory.tenant;
    const others = 'florist tailor baker plumber banker grocer tutor barber butcher notary painter printer'.split(' ');
    const sees = (whom: string) => ['user', `Anna sees a ${whom} about the matter.`] as [string, string];
    await memory.said(owner, [sees('doctor'), ...others.map(sees)]);
    await use('openai/small');
    await embedAll();
    expect((await memory.find(owner, 'physician for Anna?', { k: 3 }))[0]).toBe(sees('doctor')[1]);
  });

  test('leaves out texts that lack a phrase or have an excluded word', async () => {
    const { owner } = memory.tenant;
    await memory.said(owner, [
      ['user', 'The automobile is to be or not to be sold.'],
      ['user', 'The automobile is in the garage.'],
    ]);
    await use('openai/small');
    await embedAll();
    expect(await memory.find(owner, 'vehicle')).toHaveLength(2);
    expect(await memory.find(owner, 'vehicle "to be or not to be"')).toEqual([
      'The automobile is to be or not to be sold.',
    ]);
    expect(await memory.find(owner, 'vehicle -garage')).toEqual(['The automobile is to be or not to be sold.']);
    expect(await memory.find(owner, 'vehicle "the bicycle"')).toEqual([]);
  });

  test('finds the newest statement first, also without an embedding', async () => {
    const { owner } = memory.tenant;
    await use('openai/small');
    const turnAbout = (city: string) => ['user', `Anna lives in ${city} with a dog.`] as [string, string];
    const indexTurn = (city: string, month: number) =>
      memory.said(owner, [turnAbout(city)], { occurred_at: `2026-0${month}-01T00:00:00Z` });
    const cities = ['Lisbon', 'Oslo', 'Vienna', 'Porto', 'Dublin', 'Turin', 'Ghent', 'Malmo'];
    for (const [at, city] of cities.entries()) {
      // The order of storing is the reverse of the order in time.
      await indexTurn(city, cities.length - at);
      await embedAll();
    }
    expect((await memory.find(owner, 'Where does Anna live?', { k: 1 }))[0]).toBe(turnAbout('Lisbon')[1]);
    await indexTurn('Basel', 9);
    expect((await memory.find(owner, 'Where does Anna live?', { k: 1 }))[0]).toBe(turnAbout('Basel')[1]);
    // The newest statement repeats an old one.
    await indexTurn('Oslo', 9);
    await memory.said(owner, [turnAbout('Turin')], { occurred_at: '2026-09-02T00:00:00Z' });
    await embedAll();
    expect((await memory.find(owner, 'Where does Anna live?', { k: 1 }))[0]).toBe(turnAbout('Turin')[1]);
  });

  test('finds texts that are written later, and items by their new words', async () => {
    const { owner } = memory.tenant;
    await use('openai/small');
    const id = await memory.remember(owner, 'garage', 'The automobile is rented.');
    await embedAll();
    expect(await memory.find(owner, 'vehicle')).toEqual(['The automobile is rented.']);
    await memory.call(owner, 'memory_items_patch', { id, text: 'The dog sleeps there.' });
    expect(await memory.find(owner, 'vehicle')).toEqual([]);
    await embedAll();
    expect(await memory.find(owner, 'vehicle')).toEqual([]);
    expect(await memory.find(owner, 'hound')).toEqual(['The dog sleeps there.']);
    await memory.call(owner, 'memory_items_delete', { id });
    expect(await count('memory_bits')).toEqual([]);
    expect(await count('memory_codes')).toEqual([]);
  });

  test('leaves out items that are proposed, superseded, expired or private to others', async () => {
    const { owner, tenantId, projectId } = memory.tenant;
    const other = await createTestMember(
      memory.services,
      { tenantId, projectId },
      'project_contributor',
      'other@example.com',
    );
    await use('openai/small');
    await memory.call(owner, 'memory_propose_items', { items: [{ subject: 'a', text: 'An automobile is proposed.' }] });
    const today = now;
    now = Date.parse('2026-01-01T00:00:00Z');
    const old = await memory.remember(owner, 'b', 'An automobile of the past.');
    now = today;
    await memory.remember(owner, 'b', 'A bicycle now.', { supersedes: old });
    await memory.remember(owner, 'c', 'An automobile until noon.', { expires_at: '2026-05-01T12:00:00Z' });
    await memory.remember(other, 'd', 'An automobile of somebody else.');
    await memory.remember(other, 'e', 'An automobile of a workflow.', {
      visibility: 'project',
      workflow_id: await memory.subjectOf(other, 'workflow'),
    });
    await embedAll();
    const found = async (more = {}) => (await memory.find(owner, 'vehicle', more)).sort();
    expect(await found()).toEqual(['An automobile of a workflow.', 'An automobile until noon.']);
    now += 24 * 3_600_000;
    expect(await found()).toEqual(['An automobile of a workflow.']);
    expect(await found({ workflow_id: await memory.subjectOf(owner, 'workflow') })).toEqual([]);
    expect(await found({ kinds: ['episode'] })).toEqual([]);
    expect(await found({ as_of: '2026-02-01T00:00:00Z' })).toEqual(['An automobile of the past.']);
  });
});

describe('a search uses the other signals', () => {
  const lexical = 'The automobile is in the garage.';
  beforeEach(async () => {
    await use('openai/small');
    await memory.said(memory.tenant.owner, turns);
    await embedAll();
    asked.length = 0;
  });
  const search = (query = 'automobile') => memory.search(memory.tenant.owner, query);

  test('while the model is away, and asks the model again after the pause', async () => {
    state = 'away';
    expect(await search()).toMatchObject({ degraded: ['vector'], hits: [{ text: lexical }] });
    state = 'well';
    expect(await search()).toMatchObject({ degraded: ['vector'] });
    expect(asked).toHaveLength(1);
    now += 29_999;
    expect((await search()).degraded).toEqual(['vector']);
    now += 1;
    expect((await search()).degraded).toEqual([]);
  });

  test('if the model does not answer', async () => {
    state = 'silent';
    expect(await search()).toMatchObject({ degraded: ['vector'], hits: [{ text: lexical }] });
  });

  test('if the vectors have another dimension, and does not store these vectors', async () => {
    state = { dimensions: 128 };
    expect(await search()).toMatchObject({ degraded: ['vector'], hits: [{ text: lexical }] });
    await memory.said(memory.tenant.owner, [['user', 'A new text.']]);
    await embedAll();
    expect(await count('memory_bits')).toEqual([{ space: 'openai/small#256', count: 3 }]);
    expect(await memory.call(memory.tenant.owner, 'memory_settings_get')).toMatchObject({ pending: 1 });
  });
});

describe('another model', () => {
  test('embeds all texts again, and its vectors are never compared with those of the former model', async () => {
    const { owner } = memory.tenant;
    await use('openai/small');
    await memory.said(owner, turns);
    await embedAll();
    expect(await use('openai/large')).toMatchObject({ dimensions: 512, pending: 3, ready: false });
    expect(await count('memory_bits')).toEqual([{ space: 'openai/small#256', count: 3 }]);
    expect(await memory.search(owner, 'vehicle')).toMatchObject({ hits: [], degraded: ['vector'] });
    await embedAll();
    expect(await count('memory_bits')).toEqual([{ space: 'openai/large#512', count: 3 }]);
    expect(await count('memory_codes')).toEqual([{ space: 'openai/large#512', count: 3 }]);
    expect(await memory.search(owner, 'vehicle')).toMatchObject({ hits: [{ text: turns[0]?.[1] }], degraded: [] });
    // Setting the same model again changes nothing.
    expect(await use('openai/large')).toMatchObject({ pending: 0, ready: true });
    expect(await use(null)).toEqual({ embedding_model: null, dimensions: null, pending: 0, ready: true });
    expect(await count('memory_bits')).toEqual([]);
    expect(await memory.search(owner, 'vehicle')).toMatchObject({
      signals: ['text', 'trigram', 'subject', 'recency'],
      degraded: [],
    });
  });

  test('is tried before it is set, and set only by administrators', async () => {
    await expect(use('openai/none')).rejects.toMatchObject({ status: 422, code: 'embedding_model_unusable' });
    state = 'away';
    await expect(use('openai/small')).rejects.toMatchObject({ status: 503 });
    state = 'well';
    const { contributor } = memory.tenant;
    const patch = { embedding_model: 'openai/small' };
    await expect(memory.call(contributor, 'memory_settings_patch', patch)).rejects.toMatchObject({ status: 403 });
    expect(await memory.call(contributor, 'memory_settings_get')).toMatchObject({ embedding_model: null });
  });

  test('keeps all texts pending if it refuses everything', async () => {
    const { owner } = memory.tenant;
    await use('openai/small');
    await memory.said(owner, turns);
    state = { refuses: '' };
    await embedAll();
    expect(await memory.call(owner, 'memory_settings_get')).toMatchObject({ pending: 3 });
    state = 'well';
    await embedAll();
    expect(await memory.call(owner, 'memory_settings_get')).toMatchObject({ pending: 0 });
  });

  test('embeds the other texts if it refuses one', async () => {
    const { owner } = memory.tenant;
    await use('openai/small');
    await memory.said(owner, [...turns, ['user', 'unspeakable']]);
    state = { refuses: 'unspeakable' };
    await embedAll();
    expect(await count('memory_bits')).toEqual([{ space: 'openai/small#256', count: 3 }]);
    expect(await memory.find(owner, 'unspeakable')).toEqual(['unspeakable']);
    expect(await memory.call(owner, 'memory_settings_get')).toMatchObject({ pending: 0, ready: true });
  });
});

describe('quantized vectors', () => {
  const vectors = fc.array(fc.double({ min: -1, max: 1, noNaN: true }), { minLength: 64, maxLength: 64 });

  test('keep the cosine', () => {
    fc.assert(
      fc.property(vectors, vectors, (a, b) => {
        const lengths = Math.hypot(...a) * Math.hypot(...b);
        fc.pre(lengths > 1e-3);
        const exact = a.reduce((sum, value, at) => sum + value * (b[at] ?? 0), 0) / lengths;
        expect(Math.abs(cosine(a, codesOf(b)) - exact)).toBeLessThan(0.02);
      }),
    );
    expect(cosine([0, 0], codesOf([0, 0]))).toBe(0);
    expect(bitsOf([1, -0.5, 0])).toBe('101');
  });

  test('count as near only if the cosine is above chance', () => {
    expect([minCosine(100), minCosine(225), minCosine(1536)]).toEqual([0.3, 0.2, 0.2]);
  });
});
