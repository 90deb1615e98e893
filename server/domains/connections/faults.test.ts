import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Services } from '../../operation/services.ts';
import { ManualClock } from '../../platform/clock.ts';
import { unavailable } from '../../platform/errors.ts';
import { newId } from '../../platform/ids.ts';
import { createPrismaClient } from '../../platform/postgres/prisma.ts';
import type { SecretStore } from '../../platform/secrets/secret-store.ts';
import { createCall } from '../../testing/call.ts';
import { createTestServices, createTestTenant, type TestTenant } from '../../testing/identity.ts';
import { createTestDatabase, type TestDatabase } from '../../testing/postgres.ts';
import { loadCredentials } from './credentials.ts';
import { connectionSecret } from './document.ts';
import { withConnectionLock } from './lock-queries.ts';
import { connectionOperations } from './operations.ts';
import { removeAbandonedConnections } from './remove-abandoned.ts';

let db: TestDatabase;
let services: Services;
let acme: TestTenant;
const clock = new ManualClock();
const request = {
  display_name: 'A',
  provider: 'custom',
  service: 'api_key',
  credentials: { token: 'old' },
  origins: ['https://api.example.com'],
};
const failAsUnavailable = () =>
  Promise.reject(unavailable('secret_store_unavailable', 'The secret store is unavailable.'));
/** Simulates a killed process, which does nothing more. */
class Killed extends Error {}

beforeAll(async () => {
  db = await createTestDatabase();
  services = createTestServices(db, { clock });
  acme = await createTestTenant(services, { slug: 'acme' });
});
afterAll(() => db.close());

/** The store with some of its methods broken. */
function storeWith(broken: Partial<SecretStore>): SecretStore {
  const { secrets } = services;
  return {
    put: secrets.put.bind(secrets),
    get: secrets.get.bind(secrets),
    take: secrets.take.bind(secrets),
    delete: secrets.delete.bind(secrets),
    ...broken,
  };
}
const callWith = (broken: Partial<SecretStore>) =>
  createCall({ ...services, secrets: storeWith(broken) }, connectionOperations);
const call: ReturnType<typeof callWith> = (...given) => createCall(services, connectionOperations)(...given);
const make = async () => ((await call(acme.contributor, 'connections_create', request)) as { id: string }).id;
const refOf = (connectionId: string) => ({ tenantId: acme.tenantId, projectId: acme.projectId, connectionId });
const load = (connectionId: string) => loadCredentials(services, refOf(connectionId), 'https://api.example.com');
const counts = async () => [await db.prisma.connection.count(), await db.prisma.secret.count()];
const hidden = () => db.prisma.connection.count({ where: { status: { in: ['pending', 'deleting'] } } });
const listedIds = async () =>
  ((await call(acme.contributor, 'connections_list', {})) as { connections: { id: string }[] }).connections.map(
    ({ id }) => id,
  );

describe('the secret store is away', () => {
  it('while creating: 503, and nothing is left, even of a write whose answer was lost', async () => {
    const before = await counts();
    await expect(
      callWith({ put: failAsUnavailable })(acme.contributor, 'connections_create', request),
    ).rejects.toMatchObject({
      status: 503,
      code: 'secret_store_unavailable',
    });
    const storeAndFail: SecretStore['put'] = async (...given) => {
      await services.secrets.put(...given);
      return failAsUnavailable();
    };
    await expect(
      callWith({ put: storeAndFail })(acme.contributor, 'connections_create', request),
    ).rejects.toMatchObject({
      status: 503,
    });
    expect(await counts()).toEqual(before);
  });

  it('while changing: 503, and nothing has changed', async () => {
    const id = await make();
    const patch = { id, display_name: 'B', credentials: { token: 'new', more: 'x' }, config: { a: 1 } };
    for (const broken of [{ put: failAsUnavailable }, { get: failAsUnavailable }]) {
      await expect(callWith(broken)(acme.contributor, 'connections_patch', patch)).rejects.toMatchObject({
        status: 503,
      });
    }
    expect(await load(id)).toMatchObject({ name: 'A', config: {}, values: { token: 'old' } });
    expect(
      await callWith({ get: failAsUnavailable })(acme.contributor, 'connections_patch', { id, display_name: 'C' }),
    ).toMatchObject({
      name: 'C',
    });
  });

  it('while deleting: 503, and it still works', async () => {
    const id = await make();
    await expect(
      callWith({ delete: failAsUnavailable })(acme.contributor, 'connections_delete', { id }),
    ).rejects.toMatchObject({
      status: 503,
    });
    expect((await load(id))?.values).toEqual({ token: 'old' });
    expect(await listedIds()).toContain(id);
  });

  it('while loading: 503', async () => {
    const id = await make();
    const broken = { ...services, secrets: storeWith({ get: failAsUnavailable }) };
    await expect(loadCredentials(broken, refOf(id), 'https://api.example.com')).rejects.toMatchObject({
      status: 503,
    });
    await expect(
      callWith({ get: failAsUnavailable })(acme.contributor, 'connections_credentials_get', { id }),
    ).rejects.toMatchObject({ status: 503 });
  });
});

describe('a crash', () => {
  /** Runs an operation whose process dies in one of its calls of the store, before or after the call takes effect. */
  async function killedIn(
    method: 'put' | 'delete',
    when: 'before' | 'after',
    name: 'create' | 'delete',
    input: object,
  ) {
    const dying = async (...given: [string, string, string]) => {
      if (when === 'after') await services.secrets[method](...given);
      throw new Killed();
    };
    // A dead process cleans up nothing: every later call of it fails too.
    const never = () => Promise.reject(new Killed());
    const pool = new Proxy(services.pool, {
      get: (target, key) => {
        if (key === 'query') return dead ? never : target.query.bind(target);
        const value = Reflect.get(target, key);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
    let dead = false;
    const secrets = storeWith({
      [method]: async (...given: [string, string, string]) => {
        try {
          return await dying(...given);
        } finally {
          dead = true;
        }
      },
      ...(method === 'put' ? { delete: never } : {}),
    });
    const prisma = createPrismaClient(pool);
    const process = createCall({ ...services, pool, prisma, secrets }, connectionOperations);
    await expect(process(acme.contributor, `connections_${name}`, input)).rejects.toThrow();
    await prisma.$disconnect();
  }

  it.each(['before', 'after'] as const)(
    'while creating, %s the secret is written: nobody sees it, and it is removed',
    async when => {
      const before = await counts();
      const visible = await listedIds();
      await killedIn('put', when, 'create', request);
      expect(await listedIds()).toEqual(visible);
      expect(await hidden()).toBe(1);
      await removeAbandonedConnections(services);
      expect(await counts()).toEqual(before);
    },
  );

  it.each(['before', 'after'] as const)(
    'while deleting, %s the secret is gone: it is gone, and so is the row',
    async when => {
      const id = await make();
      const [rows = 0, secrets = 0] = await counts();
      await killedIn('delete', when, 'delete', { id });
      expect(await listedIds()).not.toContain(id);
      expect(await load(id)).toBeNull();
      expect(await hidden()).toBe(1);
      await expect(call(acme.contributor, 'connections_get', { id })).rejects.toMatchObject({ status: 404 });
      await removeAbandonedConnections(services);
      expect(await counts()).toEqual([rows - 1, secrets - 1]);
    },
  );

  it('while changing, between secret and row: the secret counts, and the next caller corrects the row', async () => {
    const id = await make();
    clock.advance(5);
    const origins = ['https://new.example.com'];
    const text = JSON.stringify({ token: 'new', more: 'x', '@meta': { revision: clock.now(), set_at: {}, origins } });
    await services.secrets.put(acme.tenantId, connectionSecret(id), text);
    // The new secret is not sent to the origin of the former one.
    await expect(load(id)).rejects.toMatchObject({ status: 409, code: 'credential_origin_refused' });
    const loaded = await loadCredentials(services, refOf(id), 'https://new.example.com/v1');
    expect(loaded?.values).toEqual({ token: 'new', more: 'x' });
    expect(await call(acme.contributor, 'connections_get', { id })).toMatchObject({
      credential_keys: ['token', 'more'],
      rotated_at: new Date(clock.now()).toISOString(),
    });
  });

  it('a reader between the writes of secret and row waits, and never pairs a new secret with old settings', async () => {
    const id = await make();
    const seen: unknown[] = [];
    let reading: Promise<unknown> | undefined;
    const put: SecretStore['put'] = async (...given) => {
      await services.secrets.put(...given);
      const asStored = ({ config }: { config: Record<string, unknown> }) => String(config.base_url);
      const loading = loadCredentials(services, refOf(id), asStored);
      reading = loading.then(loaded => seen.push([loaded?.values.token, loaded?.config]));
    };
    const input = { id, credentials: { token: 'new' }, config: { base_url: 'https://new.example.com' } };
    await callWith({ put })(acme.contributor, 'connections_patch', input);
    await reading;
    expect(seen).toEqual([['new', { base_url: 'https://new.example.com' }]]);
  });

  it('removing skips connections in use, and survives an unavailable store', async () => {
    const id = newId();
    const at = new Date(clock.now());
    const state = { name: 'A', provider: 'custom', service: 'x', status: 'pending', credentialKeys: [], config: {} };
    const times = { rotatedAt: at, createdAt: at, updatedAt: at };
    const { tenantId } = acme;
    await db.prisma.connection.create({ data: { id, tenantId, ...state, createdBy: newId(), ...times } });
    await withConnectionLock(services, id, () => removeAbandonedConnections(services));
    expect(await db.prisma.connection.count({ where: { id } })).toBe(1);
    await removeAbandonedConnections({ ...services, secrets: storeWith({ delete: failAsUnavailable }) });
    expect(await db.prisma.connection.count({ where: { id } })).toBe(1);
    await removeAbandonedConnections(services);
    expect(await db.prisma.connection.count({ where: { id } })).toBe(0);
  });
});

describe('a secret that the store has lost', () => {
  it('is 409, and entering it again repairs the connection', async () => {
    const id = await make();
    await services.secrets.delete(acme.tenantId, connectionSecret(id));
    await expect(load(id)).rejects.toMatchObject({ status: 409, code: 'connection_incomplete' });
    await call(acme.contributor, 'connections_patch', { id, credentials: { token: 'again' } });
    expect((await load(id))?.values).toEqual({ token: 'again' });
  });

  it('that is not JSON is not quoted in the error', async () => {
    const id = await make();
    await services.secrets.put(acme.tenantId, connectionSecret(id), 'secret-but-no-json');
    const error = await load(id).catch(thrown => thrown);
    expect(`${error.message} ${error.cause}`).not.toContain('secret-but');
  });
});
