import { expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../testing/postgres.ts';
import { newId } from '../ids.ts';
import { parseJson } from '../json-text.ts';
import { containing, exactJson } from './prisma.ts';
import { transact } from './transaction.ts';

const connection = (name: string, config: unknown) => {
  const at = new Date(0);
  const times = { rotatedAt: at, createdAt: at, updatedAt: at };
  const id = newId();
  return {
    id,
    tenantId: 't',
    name,
    provider: 'p',
    service: 's',
    status: 'active',
    createdBy: id,
    ...times,
    config: exactJson(config),
  };
};

/** Returns the stored value as text. */
async function storedConfigs({ pool }: TestDatabase): Promise<string[]> {
  return (await pool.query('SELECT config::text AS config FROM connections')).rows.map(({ config }) => config);
}

/** Keys that have a meaning in Prisma, JavaScript or PostgreSQL, and that a client may send. */
const awkward =
  '{"2":2,"10":1,"$type":"Json","value":"1","inner":{"$type":"Raw","value":{"$type":"BigInt","value":"3"}},' +
  '"__proto__":{"a":1},"list":[null,{"$type":"DateTime","value":"x"}],"set":{"set":1},"toJSON":1,"surrogate":"\\ud800"}';

test('exactJson stores every JSON value unchanged', async () => {
  await using db = await createTestDatabase();
  await db.prisma.connection.create({ data: connection('created', JSON.parse(awkward)) });
  expect(await storedConfigs(db)).toEqual([awkward]);
  await db.prisma.connection.updateMany({ data: { config: exactJson({}) } });
  const [row] = await db.prisma.connection.updateManyAndReturn({ data: { config: exactJson(JSON.parse(awkward)) } });
  expect(await storedConfigs(db)).toEqual([awkward]);
  expect(JSON.stringify(row?.config)).toBe(awkward);
  expect(JSON.stringify((await db.prisma.connection.findFirst())?.config)).toBe(awkward);
});

test('integers of 64 bits keep their digits in columns of JSON, in transactions as well', async () => {
  await using db = await createTestDatabase();
  const text = '{"id":7615917337495251231,"list":[-9223372036854775808,18446744073709551615,1,0.5],"text":"x"}';
  const configText = (row: { config: unknown } | null | undefined) => JSON.stringify(row?.config);
  const created = await db.prisma.connection.create({ data: connection('large', parseJson(text)) });
  expect(configText(created)).toBe(text);
  expect(await storedConfigs(db)).toEqual([text]);
  expect(configText(await db.prisma.connection.findFirst())).toBe(text);
  await transact(db, async tx => {
    expect(configText((await tx.connection.findMany())[0])).toBe(text);
    expect(configText((await tx.query('SELECT config FROM connections')).rows[0])).toBe(text);
  });
  const [row] = (await db.pool.query('SELECT config, config::jsonb AS binary FROM connections')).rows;
  expect(configText(row)).toBe(text);
  expect(row.binary.id).toBe(7615917337495251231n);
});

test('containing finds the text itself, in any case', async () => {
  await using db = await createTestDatabase();
  for (const name of ['50% Off', '50 cents', 'a_b', 'axb', 'back\\slash'])
    await db.prisma.connection.create({ data: connection(name, {}) });
  const found = async (text: string) =>
    (await db.prisma.connection.findMany({ where: { name: containing(text) } })).map(({ name }) => name);
  expect(await found('0% o')).toEqual(['50% Off']);
  expect(await found('A_B')).toEqual(['a_b']);
  expect(await found('\\')).toEqual(['back\\slash']);
});
