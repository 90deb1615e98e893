import { readFileSync } from 'node:fs';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestApi, type TestApi } from '../../testing/api.ts';
import { createTestPat } from '../../testing/identity.ts';
import { createTestMemory, type TestMemory } from '../../testing/memory.ts';
import { memoryOperations } from './operations.ts';
import { MAX_TURNS } from './schemas.ts';

let memory: TestMemory;
let api: TestApi;
let token: string;
beforeAll(async () => {
  memory = await createTestMemory();
  api = await startTestApi(memory.services, memoryOperations);
  ({ token } = await createTestPat(memory.services, memory.tenant.contributor, ['memory:use']));
});
afterAll(async () => {
  await api.close();
  await memory.close();
});

const post = async (path: string, body: string) => {
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
  const response = await fetch(api.url + path, { method: 'POST', headers, body });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
};

test.each([
  [-1, 201],
  [0, 201],
  [1, 413],
])('a file whose request has 1 MiB and %i bytes is %i', async (more, status) => {
  const body = (content: string) => JSON.stringify({ path: `file ${more}`, content });
  const words = 'lorem ipsum dolor sit amet '.repeat(40_000);
  const content = words.slice(0, 1024 * 1024 + more - body('').length);
  const answer = await post('/v1/memory/index-file', body(content));
  expect(answer.status).toBe(status);
  if (status === 201) expect(answer.body.chunks).toBeGreaterThan(600);
});

describe('limits of a request, at and above', () => {
  const turns = (count: number) => Array.from({ length: count }, (_, at) => ({ role: 'user', text: `turn ${at}` }));
  const chunk_id = '0198c0de-7a2b-7cc3-9d1e-3f2b8a6c4d10';
  const evidence = (count: number, length = 1) =>
    Array.from({ length: count }, () => ({ chunk_id, quote: 'q'.repeat(length) }));
  const propose = (item: object) => ['/v1/memory/items', { items: [{ subject: 's', text: 't', ...item }] }] as const;
  const talk = (more: object) =>
    ['/v1/memory/index-conversation', { thread_id: 't', turns: turns(1), ...more }] as const;
  const long = (length: number) => 'x'.repeat(length);

  test.each([
    ['turns', talk({ turns: turns(MAX_TURNS) }), talk({ turns: turns(MAX_TURNS + 1) })],
    [
      'length of a turn',
      talk({ turns: [{ role: 'user', text: long(100_000) }] }),
      talk({ turns: [{ role: 'user', text: long(100_001) }] }),
    ],
    ['thread', talk({ thread_id: long(200) }), talk({ thread_id: long(201) })],
    ['text', propose({ text: long(2000) }), propose({ text: long(2001) })],
    ['subject', propose({ subject: long(200) }), propose({ subject: long(201) })],
    ['evidence', propose({ evidence: evidence(20) }), propose({ evidence: evidence(21) })],
    ['quote', propose({ evidence: evidence(1, 1000) }), propose({ evidence: evidence(1, 1001) })],
  ])('%s', async (_, [path, at], [, above]) => {
    const allowed = await post(path, JSON.stringify(at));
    // The evidence of a token does not exist.
    expect(path.endsWith('items') ? ['evidence_required', 'quote_not_found'] : [undefined]).toContain(
      allowed.body.code,
    );
    expect((await post(path, JSON.stringify(above))).body).toMatchObject({ code: 'validation_error' });
  });
});

test('a database that refuses the extensions gets the tables, and indexes that need no extension', async () => {
  const { pool, url } = memory.db;
  const migration = readFileSync(
    new URL('../../../prisma/migrations/0028_memory/migration.sql', import.meta.url),
    'utf8',
  );
  const role = `refused_${process.pid}`;
  await pool.query('DROP EXTENSION pg_trgm CASCADE');
  await pool.query('DROP EXTENSION btree_gin CASCADE');
  await pool.query(`CREATE ROLE ${role} LOGIN PASSWORD 'refused'`);
  await pool.query(`CREATE SCHEMA other AUTHORIZATION ${role}`);
  await pool.query(`GRANT REFERENCES ON projects, memberships TO ${role}`);
  const restricted = new URL(url);
  restricted.username = role;
  restricted.password = 'refused';
  const client = new pg.Client({ connectionString: restricted.href });
  await client.connect();
  try {
    await client.query('SET search_path = other, public');
    await client.query(migration);
    const { rows } = await client.query<{ definition: string }>(
      `SELECT pg_get_indexdef(indexrelid) AS definition FROM pg_index
       WHERE indrelid IN ('other.memory_chunks'::regclass, 'other.memory_items'::regclass)`,
    );
    const gin = rows.filter(({ definition }) => definition.includes('USING gin'));
    expect(gin.map(({ definition }) => definition.replace(/.* ON /, ''))).toEqual([
      'other.memory_chunks USING gin (words)',
      'other.memory_items USING gin (words)',
    ]);
  } finally {
    await client.end();
    await pool.query(`DROP OWNED BY ${role}`);
    await pool.query(`DROP ROLE ${role}`);
  }
});
