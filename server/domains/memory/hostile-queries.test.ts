import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Principal } from '../../operation/context.ts';
import { AppError } from '../../platform/errors.ts';
import { createTestMember } from '../../testing/identity.ts';
import { createTestMemory, type TestMemory } from '../../testing/memory.ts';
import { memoryOperations } from './operations.ts';
import { MAX_QUERY_LENGTH } from './schemas.ts';
import { parseQuery } from './search/query.ts';

const SECRET = 'The stranger keeps zebras.';
let memory: TestMemory;
let reader: Principal;
beforeAll(async () => {
  memory = await createTestMemory();
  reader = await createTestMember(memory.services, memory.tenant, 'project_contributor', 'reader@example.com');
  const stranger = await createTestMember(memory.services, memory.tenant, 'project_contributor', 's@example.com');
  await memory.remember(stranger, 'zebras', SECRET);
  await memory.remember(reader, 'discount', 'The discount is 100% for snake_case readers.');
  await memory.said(reader, [['user', 'The red car is in the garage.']]);
});
afterAll(() => memory.close());

/** Fragments with a meaning in the query's grammar, LIKE, tsquery, JSON or Unicode, and ordinary words. */
const fragments = [
  ...['"', '""', '"red car"', '-', '--', '-car', '- car', '-"red', '%', '_', '\\', '\\%', "'", "''", "'; DROP TABLE"],
  ...['(', ')', '&', '|', '!', ':*', '<->', '<2>', '*', ':A', '$1', '{{x}}', '\n', '\t', '\u00a0', '\u2028'],
  ...['a:', 'OR', 'NOT', 'zebras', 'car', '100%', 'snake_case', '東京', 'ß', 'İ', 'e\u0301', '\u200b', '\u202e', '🚗'],
  ...['00000000-0000-7000-8000-000000000000', 'x'.repeat(300), '1e309', 'null', '\ufffe', '\ud83d', '\0'],
];
const query = fc
  .array(fc.oneof(fc.constantFrom(...fragments), fc.string({ unit: 'binary', maxLength: 6 })), {
    minLength: 1,
    maxLength: 12,
  })
  .chain(parts => fc.constantFrom('', ' ').map(between => parts.join(between)));

const isText = (text: string) =>
  text.isWellFormed() && !text.includes('\0') && /\S/.test(text) && text.length <= MAX_QUERY_LENGTH;

test('every text is a query with a bounded number of parts', () => {
  fc.assert(
    fc.property(query, text => {
      const parsed = parseQuery(text.toWellFormed());
      expect(parsed.words.length).toBeLessThanOrEqual(24);
      expect(parsed.excluded.length).toBeLessThanOrEqual(24);
      expect(parsed.phrases.length).toBeLessThanOrEqual(5);
    }),
    { numRuns: 1_000 },
  );
});

test('a search answers every query, and never with private memories of others', async () => {
  await fc.assert(
    fc.asyncProperty(query, async text => {
      const asked = memory.search(reader, text);
      if (isText(text)) expect((await asked).hits.map(hit => hit.text)).not.toContain(SECRET);
      else await expect(asked).rejects.toMatchObject({ status: 422 });
    }),
    { numRuns: 150 },
  );
});

describe('wildcards of LIKE match only themselves', () => {
  test.each([
    ['100%', 'The discount is 100% for snake_case readers.'],
    ['snake_case', 'The discount is 100% for snake_case readers.'],
    ['"red car', 'The red car is in the garage.'],
    ['red car"', 'The red car is in the garage.'],
    ["red' car", 'The red car is in the garage.'],
  ])('%s', async (text, found) => {
    expect(await memory.find(reader, text, { k: 1 })).toEqual([found]);
  });
  test.each(['%', '_', '%%%', '____', '\\', '"', '""', '-', '-car', ':*', '(', 'zebra%', 'z_bras'])(
    'no hit: %s',
    async text => {
      expect(await memory.find(reader, text)).toEqual([]);
    },
  );
});

test('a query of the maximum length is answered, and a longer one is refused', async () => {
  for (const unit of ['"', '-', '%', 'ab ', '東', '"a" ']) {
    const longest = unit.repeat(MAX_QUERY_LENGTH).slice(0, MAX_QUERY_LENGTH);
    await expect(memory.search(reader, longest)).resolves.toMatchObject({ hits: expect.any(Array) });
    await expect(memory.search(reader, `${longest}x`)).rejects.toMatchObject({ status: 422 });
  }
});

describe('a body of any form is accepted or refused with a client error', () => {
  const names = [
    ...[
      'query',
      'q',
      'k',
      'kinds',
      'as_of',
      'max_tokens',
      'visibility',
      'workflow_id',
      'id',
      'items',
      'subject',
      'text',
    ],
    ...[
      'evidence',
      'chunk_id',
      'quote',
      'turns',
      'role',
      'thread_id',
      'path',
      'content',
      'of',
      'ref',
      'cursor',
      'limit',
    ],
    ...['status', 'pinned', 'expires_at', 'reinstate', 'tool', 'arguments', 'remember', 'supersedes', '__proto__'],
  ];
  const leaf = fc.oneof(
    fc.constantFrom(
      ...fragments,
      'memory_search',
      'private',
      'workspace',
      'me',
      '2026-02-30T25:00:00Z',
      -1,
      1e308,
      true,
    ),
    fc.integer(),
    fc.constant(null),
  );
  const { body } = fc.letrec<{ body: unknown }>(tie => ({
    body: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      leaf,
      fc.array(tie('body'), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom(...names), tie('body'), { maxKeys: 5 }),
    ),
  }));
  const input = fc.dictionary(fc.constantFrom(...names), body, { maxKeys: 6 });
  // No model is configured: only this operation would send a request to a provider.
  const fuzzed = memoryOperations.map(({ name }) => name).filter(name => name !== 'memory_settings_patch');

  test.each(fuzzed)('%s', async name => {
    await fc.assert(
      fc.asyncProperty(input, async given => {
        const outcome = await memory.call(reader, name, given).catch((error: unknown) => error);
        if (!(outcome instanceof Error)) return;
        expect(outcome).toBeInstanceOf(AppError);
        expect((outcome as AppError).status).toBeGreaterThanOrEqual(400);
        expect((outcome as AppError).status).toBeLessThan(500);
      }),
      { numRuns: 40 },
    );
  });
});
