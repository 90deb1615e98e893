import { afterAll, beforeAll, expect, test } from 'vitest';
import { newId } from '../../platform/ids.ts';
import { createTestDatabase, type TestDatabase } from '../../testing/postgres.ts';
import { type BinaryType, binaryArray } from './binary-array.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.close());

const id = newId();
test.each<[BinaryType, unknown[]]>([
  ['uuid', [id, id, null, id, newId(), '00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff']],
  ['int', [0, 1, 1, -1, null, null, 1, 2_147_483_647, -2_147_483_648]],
  [
    'bigint',
    [0, 1, -1, null, 4_294_967_295, 4_294_967_296, -4_294_967_297, 9_007_199_254_740_991, -9_007_199_254_740_991],
  ],
  ['float8', [0, 1_760_000_000_123, 1_760_000_000_123, null, -0.1, 1e300]],
  ['uuid', []],
  ['int', [null]],
])('PostgreSQL reads the same values from an array of %s', async (type, values) => {
  const text = `SELECT $1::${type}[]::text[] AS read, $2::text[]::${type}[]::text[] AS meant`;
  const { rows } = await db.pool.query(text, [binaryArray(type, values), values]);
  expect(rows[0].read).toEqual(rows[0].meant);
  expect(rows[0].read).toHaveLength(values.length);
});

test('a UUID may be in upper case', async () => {
  const { rows } = await db.pool.query('SELECT $1::uuid[]::text[] AS read', [binaryArray('uuid', [id.toUpperCase()])]);
  expect(rows[0].read).toEqual([id]);
});

test.each<[BinaryType, unknown]>([
  ['uuid', 'x'],
  ['uuid', `${id}0`],
  ['uuid', id.replace(/.$/, 'g')],
  ['uuid', id.replaceAll('-', '')],
  ['int', 0.5],
  ['int', 2_147_483_648],
  ['int', '1'],
  ['bigint', 9_007_199_254_740_992],
  ['bigint', 0.5],
  ['float8', Number.NaN],
  ['float8', undefined],
])('a value that is not of the type %s is refused: %s', (type, value) => {
  expect(() => binaryArray(type, [value])).toThrow(RangeError);
});
