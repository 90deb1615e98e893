import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Services } from '../../operation/services.ts';
import { ManualClock } from '../../platform/clock.ts';
import { createCall } from '../../testing/call.ts';
import { createTestServices, createTestTenant, type TestTenant } from '../../testing/identity.ts';
import { createTestDatabase, type TestDatabase } from '../../testing/postgres.ts';
import { readKnownSecrets, VALUES_KEPT_MS } from './known-secrets.ts';
import { connectionOperations } from './operations.ts';

const clock = new ManualClock(Date.parse('2026-03-09T14:00:00Z'));
let db: TestDatabase;
let services: Services;
let acme: TestTenant;
let call: ReturnType<typeof createCall<typeof connectionOperations>>;
let reads = 0;

beforeAll(async () => {
  db = await createTestDatabase();
  const plain = createTestServices(db, { clock });
  const { secrets } = plain;
  const get: Services['secrets']['get'] = (...given) => {
    reads += 1;
    return secrets.get(...given);
  };
  const others = {
    put: secrets.put.bind(secrets),
    take: secrets.take.bind(secrets),
    delete: secrets.delete.bind(secrets),
  };
  services = { ...plain, secrets: { get, ...others } };
  acme = await createTestTenant(services, { slug: 'acme' });
  call = createCall(services, connectionOperations);
});
afterAll(() => db.close());
beforeEach(() => {
  reads = 0;
});

const create = async (token: string) => {
  const given = { display_name: token, provider: 'custom', service: 'api_key', credentials: { token } };
  return ((await call(acme.contributor, 'connections_create', given)) as { id: string }).id;
};
const isKnown = async (text: string, by = acme.contributor) => (await readKnownSecrets(services, by))(text);

test('the values of a connection are read once in half a minute', async () => {
  await create('first-secret-value');
  expect(await isKnown('It is first-secret-value.')).toBe(true);
  expect(reads).toBe(1);
  clock.advance(VALUES_KEPT_MS - 1);
  expect(await isKnown('It is first-secret-value.')).toBe(true);
  expect(await isKnown('It is another one.')).toBe(false);
  expect(reads).toBe(1);
  clock.advance(1);
  expect(await isKnown('It is first-secret-value.')).toBe(true);
  expect(reads).toBe(2);
});

test('a new, a replaced and a deleted secret count at once', async () => {
  const id = await create('second-secret-value');
  expect(await isKnown('second-secret-value')).toBe(true);
  await call(acme.contributor, 'connections_patch', { id, credentials: { token: 'third-secret-value' } });
  expect(await isKnown('third-secret-value')).toBe(true);
  expect(await isKnown('second-secret-value')).toBe(false);
  await call(acme.contributor, 'connections_delete', { id });
  expect(await isKnown('third-secret-value')).toBe(false);
});

test('the secrets of another workspace are not known', async () => {
  await create('fourth-secret-value');
  const rival = await createTestTenant(services, { slug: 'rival' });
  expect(await isKnown('fourth-secret-value')).toBe(true);
  expect(await isKnown('fourth-secret-value', rival.contributor)).toBe(false);
});
