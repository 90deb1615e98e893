import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Principal } from '../../operation/context.ts';
import { createTestMember } from '../../testing/identity.ts';
import {
  createTestMemory,
  type EpisodeResult,
  type ItemResult,
  programOf,
  type TestMemory,
} from '../../testing/memory.ts';
import { looksLikeCredential } from './credential-forms.ts';

let memory: TestMemory;
beforeAll(async () => {
  memory = await createTestMemory();
});
afterAll(() => memory.close());

let people = 0;
const somebody = (): Promise<Principal> => {
  people += 1;
  return createTestMember(memory.services, memory.tenant, 'project_contributor', `f${people}@example.com`);
};
/** Returns the contents of all tables of memory as text. */
const dump = async (): Promise<string> => {
  const tables = ['episodes', 'chunks', 'items', 'evidence', 'bits', 'codes', 'recalls'];
  const rows = await Promise.all(
    tables.map(async table => (await memory.db.pool.query(`SELECT * FROM memory_${table}`)).rows),
  );
  return JSON.stringify(rows);
};
const quoted = (chunk: { id: string } | undefined, quote: string, text: string) => ({
  subject: 'secret plan',
  text,
  evidence: [{ chunk_id: chunk?.id, quote }],
});
const propose = async (by: Principal, item: object) =>
  ((await memory.call(by, 'memory_propose_items', { items: [item], remember: true })) as { items: { id: string }[] })
    .items[0]?.id;

test('forgetting an item deletes its evidence and embeddings', async () => {
  const person = await somebody();
  const { chunks } = await memory.said(person, [['user', 'The marmot plan starts at dawn.']]);
  const id = await propose(person, quoted(chunks[0], 'marmot plan', 'The wombat plan starts.'));
  const bits = [person.tenantId, 'space', id, person.projectId, person.userId];
  await memory.db.pool.query(
    `INSERT INTO memory_bits (tenant_id, space, target_id, is_item, project_id, user_id, bits) VALUES ($1, $2, $3, true, $4, $5, '1010')`,
    bits,
  );
  await memory.db.pool.query(
    `INSERT INTO memory_codes (tenant_id, space, target_id, codes) VALUES ($1, $2, $3, '\\x0102')`,
    bits.slice(0, 3),
  );
  await memory.call(programOf(person), 'memory_tools_call', {
    tool: 'memory_search',
    arguments: { query: 'wombat plan' },
  });
  expect(await memory.call(person, 'memory_items_get', { id })).toMatchObject({ uses: 1 });
  await memory.call(person, 'memory_items_delete', { id });
  expect(await memory.find(person, 'wombat')).toEqual([]);
  expect(JSON.stringify(await memory.call(person, 'memory_export', {}))).not.toContain('wombat');
  const { rows } = await memory.db.pool.query(
    `SELECT target_id FROM memory_bits UNION ALL SELECT target_id FROM memory_codes UNION ALL SELECT item_id FROM memory_evidence`,
  );
  expect(rows).toEqual([]);
  expect(await dump()).not.toContain('wombat');
});

test('forgetting an episode deletes machine-made items that rest only on it', async () => {
  const person = await somebody();
  const first = await memory.said(person, [['user', 'Otters nest by the mill.']]);
  const second = await memory.said(person, [['user', 'Otters nest by the mill, and herons too.']]);
  await propose(programOf(person), quoted(first.chunks[0], 'by the mill', 'Otters nest by the mill.'));
  await propose(programOf(person), quoted(second.chunks[0], 'herons', 'Herons nest by the mill.'));
  await propose(programOf(person), quoted(second.chunks[0], 'by the mill', 'Otters nest by the mill.'));
  await propose(person, { subject: 'mill', text: 'The mill is mine.' });
  expect(await memory.call(person, 'memory_forget', { of: 'episode', ref: second.id })).toEqual({
    items: 1,
    episodes: 1,
  });
  expect(await memory.find(person, 'herons')).toEqual([]);
  expect(await memory.find(person, 'otters', { kinds: ['fact'] })).toEqual(['Otters nest by the mill.']);
  expect(await memory.call(person, 'memory_forget', { of: 'thread', ref: first.source_ref })).toEqual({
    items: 1,
    episodes: 1,
  });
  expect(await memory.find(person, 'mill')).toEqual(['The mill is mine.']);
  await expect(memory.call(person, 'memory_forget', { of: 'episode', ref: first.id })).rejects.toMatchObject({
    status: 404,
  });
});

test('the memories of a person, a workflow, an agent or a project can be forgotten', async () => {
  const person = await somebody();
  const { owner } = memory.tenant;
  const workflow_id = await memory.subjectOf(person, 'workflow');
  const agent_id = await memory.subjectOf(person, 'agent');
  await memory.remember(person, 'badger', 'Badger one.', { visibility: 'project', workflow_id });
  await memory.remember(person, 'badger', 'Badger two.', { visibility: 'project', agent_id });
  await memory.remember(person, 'badger', 'Badger three.');
  await memory.said(person, [['user', 'Badger four.']]);
  await memory.remember(owner, 'badger', 'Badger five.', { visibility: 'workspace' });
  expect(await memory.call(person, 'memory_forget', { of: 'workflow', ref: workflow_id })).toEqual({
    items: 1,
    episodes: 0,
  });
  expect(await memory.call(person, 'memory_forget', { of: 'agent', ref: agent_id })).toEqual({ items: 1, episodes: 0 });
  expect(await memory.call(person, 'memory_forget', { of: 'me' })).toEqual({ items: 1, episodes: 1 });
  expect(await memory.find(person, 'badger')).toEqual(['Badger five.']);
  await memory.remember(person, 'badger', 'Badger six.');
  await memory.remember(person, 'badger', 'Badger seven.', { visibility: 'project' });
  expect(await memory.call(owner, 'memory_forget', { of: 'project' })).toMatchObject({ items: 1 });
  expect((await memory.find(person, 'badger')).sort()).toEqual(['Badger five.', 'Badger six.']);
  for (const wrong of [
    { of: 'me', ref: 'x' },
    { of: 'episode' },
    { of: 'workflow', ref: 'no-id' },
    { of: 'everything' },
  ]) {
    await expect(memory.call(person, 'memory_forget', wrong)).rejects.toMatchObject({ status: 422 });
  }
});

test('indexing a file again replaces its text', async () => {
  const person = await somebody();
  const index = (content: string) => memory.call(person, 'memory_index_file', { path: 'plan.md', content });
  const first = await index('The ferret plan.');
  expect(first).toMatchObject({ deduplicated: false, chunks: 1 });
  expect(await index('The ferret plan.')).toMatchObject({ deduplicated: true, chunks: 0 });
  await index('The stoat plan.');
  expect(await memory.find(person, 'ferret')).toEqual([]);
  expect(await memory.find(person, 'stoat')).toEqual(['The stoat plan.']);
});

test('replacing the text of a file keeps only the quotes and items that the new text supports', async () => {
  const person = await somebody();
  const index = async (content: string) => {
    const { episode_id: id } = (await memory.call(person, 'memory_index_file', { path: 'zoo.md', content })) as {
      episode_id: string;
    };
    return (await memory.call(person, 'memory_get_episode', { id })) as EpisodeResult;
  };
  const first = await index('The kudu eats at noon. The ibex eats at six.');
  const shared = { visibility: 'project' };
  const kudu = await propose(programOf(person), { ...quoted(first.chunks[0], 'kudu eats', 'Kudu: noon.'), ...shared });
  const ibex = await propose(programOf(person), { ...quoted(first.chunks[0], 'ibex eats', 'Ibex: six.'), ...shared });
  for (const id of [kudu, ibex]) await memory.call(person, 'memory_confirm_item', { id });
  const second = await index('The animals are fed. The ibex eats at six.');
  await expect(memory.call(person, 'memory_items_get', { id: kudu })).rejects.toMatchObject({ status: 404 });
  const kept = (await memory.call(person, 'memory_items_get', { id: ibex })) as ItemResult;
  expect(kept.evidence).toMatchObject([{ chunk_id: second.chunks[0]?.id, episode_id: second.id, quote: 'ibex eats' }]);
  expect(await dump()).not.toMatch(/kudu/i);
  await index('Nothing.');
  await expect(memory.call(person, 'memory_items_get', { id: ibex })).rejects.toMatchObject({ status: 404 });
  expect(await dump()).not.toMatch(/ibex/i);
});

test('a continuation has the later episodes of a thread', async () => {
  const person = await somebody();
  const onDay = (day: number) => ({ thread_id: 'story', occurred_at: `2026-01-0${day}T00:00:00Z` });
  const first = await memory.said(person, [['user', 'Once upon a time']], onDay(1));
  await memory.said(
    person,
    [
      ['user', 'there was a lynx'],
      ['assistant', 'in a forest'],
    ],
    onDay(3),
  );
  await memory.said(person, [['user', 'with two cubs']], onDay(2));
  const next = (await memory.call(person, 'memory_get_continuation', { id: first.id, limit: 2 })) as {
    episodes: { chunks: { text: string }[] }[];
  };
  expect(next.episodes.map(({ chunks }) => chunks.map(({ text }) => text))).toEqual([
    ['with two cubs'],
    ['there was a lynx'],
  ]);
  const again = (await memory.call(person, 'memory_index_conversation', {
    turns: [{ role: 'user', text: 'Once upon a time' }],
    ...onDay(1),
  })) as object;
  expect(again).toEqual({ episode_id: first.id, chunks: 0, deduplicated: true });
});

describe('credentials are refused', () => {
  const planted = [
    'AKIAIOSFODNN7EXAMPLE',
    `ghp_${'a1B2'.repeat(9)}`,
    `sk-ant-${'a1B2c3D4'.repeat(4)}`,
    '-----BEGIN RSA PRIVATE KEY-----',
    'postgres://admin:hunter22@db.example.com/x',
    'my password: Tr0ub4dor&3x',
    `Authorization: Bearer ${'abc123DEF456'.repeat(3)}`,
    `npm_${'a1B2'.repeat(9)}`,
    `hf_${'aBcD'.repeat(8)}Ef`,
    `SG.${'a1B2c3'.repeat(3)}wxyz.${'Z9y8'.repeat(10)}abc`,
    `https://hooks.slack.com/services/T00000000/B00000000/${'aB1c'.repeat(6)}`,
    `https://discord.com/api/webhooks/112233445566/${'aB1_'.repeat(15)}`,
    `https://acme.webhook.office.com/webhookb2/${'a1b2'.repeat(8)}@x/IncomingWebhook/y`,
    `https://chat.googleapis.com/v1/spaces/AAA/messages?key=k&token=${'aB1_'.repeat(8)}`,
    `https://hooks.zapier.com/hooks/catch/123456/a1b2c3d/`,
    `https://example.com/notify?token=${'a1B2'.repeat(7)}`,
    `1234567890:AA${'aB1_'.repeat(8)}x`,
    `pypi-${'aB1_'.repeat(14)}`,
    `hvs.${'aB1_'.repeat(8)}`,
  ];

  test.each(planted)('%s', async secret => {
    const person = await somebody();
    const text = `Please note ${secret} for later`;
    const turns = [
      { role: 'user', text: 'hello' },
      { role: 'user', text },
    ];
    const refused = { status: 422, code: 'contains_credential' };
    await expect(memory.call(person, 'memory_index_conversation', { thread_id: 't', turns })).rejects.toMatchObject({
      ...refused,
      details: [{ path: 'turns[1].text' }],
    });
    await expect(memory.call(person, 'memory_index_file', { path: 'p', content: text })).rejects.toMatchObject(refused);
    const named = (more: object) => ({ thread_id: 't', turns: turns.slice(0, 1), ...more });
    for (const [name, input, path] of [
      ['memory_index_file', { path: secret, content: 'hello' }, 'path'],
      ['memory_index_conversation', named({ title: secret }), 'title'],
      ['memory_index_conversation', named({ thread_id: secret.slice(0, 200) }), 'thread_id'],
    ] as const) {
      await expect(memory.call(person, name, input)).rejects.toMatchObject({ ...refused, details: [{ path }] });
    }
    await expect(propose(person, { subject: 'key', text })).rejects.toMatchObject(refused);
    await expect(propose(person, { subject: secret.slice(0, 200), text: 'x' })).rejects.toMatchObject(refused);
    const id = await propose(person, { subject: 'key', text: 'The key is kept in the safe.' });
    await expect(memory.call(person, 'memory_items_patch', { id, text })).rejects.toMatchObject(refused);
    expect(await dump()).not.toContain(secret);
  });

  test('texts that only mention credentials are accepted', () => {
    for (const text of [
      'My password: the usual one',
      'The API key is in the safe.',
      'token: optional',
      'Task sk-12',
      'https://a.example/b?c',
      'Install npm_config_registry and hf_transfer',
      'See https://shop.example/list?key=the-longest-key-of-all-words',
      'https://hooks.slack.com/ is where webhooks live',
    ]) {
      expect(looksLikeCredential(text), text).toBe(false);
    }
  });
});
