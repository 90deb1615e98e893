import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase } from '../../testing/postgres.ts';
import { startTestVault } from '../../testing/vault.ts';
import { ManualClock } from '../clock.ts';
import { DatabaseSecretStore } from './database-secret-store.ts';
import type { SecretStore } from './secret-store.ts';
import { VaultSecretStore } from './vault-secret-store.ts';

/**
 * The adapters of the secret store, which share one contract; each function creates several stores on the same storage.
 */
const adapters: Record<string, () => Promise<{ open: () => SecretStore; close: () => Promise<unknown> }>> = {
  async database() {
    const db = await createTestDatabase();
    const masterKey = Buffer.alloc(32, 3);
    return {
      open: () => new DatabaseSecretStore({ pool: db.pool, clock: new ManualClock(), masterKey }),
      close: () => db.close(),
    };
  },
  vault: () => openVault({ casRequired: false }),
  'vault that demands check-and-set': () => openVault({ casRequired: true }),
};

async function openVault({ casRequired }: { casRequired: boolean }) {
  const clock = new ManualClock();
  const vault = await startTestVault(clock);
  vault.casRequired = casRequired;
  const { address } = vault;
  const credentials = { token: vault.issue(0) };
  const settings = { address, mount: 'secret', prefix: 'baton', namespace: undefined, credentials };
  return {
    open: () => new VaultSecretStore({ settings, clock, alarm: () => () => {}, timeoutMs: 60_000 }),
    close: () => vault.close(),
  };
}

describe.each(Object.keys(adapters))('secret store: %s', name => {
  let place: { open: () => SecretStore; close: () => Promise<unknown> };
  beforeAll(async () => {
    const start = adapters[name];
    if (start) place = await start();
  });
  afterAll(() => place.close());

  it('puts, replaces, gets, takes and deletes, also from a fresh process', async () => {
    await place.open().put('acme', 'pat/1', 'geheim 🔑');
    const store = place.open();
    expect(await store.get('acme', 'pat/1')).toBe('geheim 🔑');
    await store.put('acme', 'pat/1', 'second');
    expect(await place.open().get('acme', 'pat/1')).toBe('second');
    expect(await store.take('acme', 'pat/1')).toBe('second');
    expect(await store.take('acme', 'pat/1')).toBeNull();
    expect(await store.get('acme', 'pat/1')).toBeNull();
    await store.put('acme', 'pat/1', 'third');
    expect(await place.open().get('acme', 'pat/1')).toBe('third');
    await store.delete('acme', 'pat/1');
    expect(await store.get('acme', 'pat/1')).toBeNull();
    await store.put('acme', 'pat/1', 'fourth');
    expect(await store.take('acme', 'pat/1')).toBe('fourth');
  });

  it('returns nothing for a name that was not stored, and deleting it is no error', async () => {
    const store = place.open();
    expect(await store.get('acme', 'none')).toBeNull();
    expect(await store.take('acme', 'none')).toBeNull();
    await store.delete('acme', 'none');
  });

  it('keeps an empty secret, a long one, and one that looks like JSON', async () => {
    const store = place.open();
    for (const value of ['', 'x'.repeat(100_000), '{"value":null}', 'line\nline\u0000\ttab']) {
      await store.put('acme', 'odd', value);
      expect(await store.get('acme', 'odd')).toBe(value);
    }
    expect(await store.take('acme', 'odd')).toBe('line\nline\u0000\ttab');
  });

  it('separates tenants and names, whatever they contain', async () => {
    const store = place.open();
    // Parts that a path could confuse: a slash, dots, an encoding, case.
    const part = fc.oneof(
      fc.string({
        unit: fc.constantFrom('a', 'A', '/', '.', '%', '=', '2', 'f', 'ä', ' ', '?', '#'),
        minLength: 1,
        maxLength: 6,
      }),
      fc.constantFrom('a/b', 'a%2Fb', 'a=2fb', '..', '.', 'a/../b', 'data', 'a//b', '/a', 'a/'),
    );
    const one = fc.tuple(part, part);
    await fc.assert(
      fc.asyncProperty(one, one, async ([tenantA, nameA], [tenantB, nameB]) => {
        fc.pre(tenantA !== tenantB || nameA !== nameB);
        await store.put(tenantA, nameA, 'first');
        await store.put(tenantB, nameB, 'second');
        expect(await store.get(tenantA, nameA)).toBe('first');
        await store.delete(tenantB, nameB);
        expect(await store.take(tenantA, nameA)).toBe('first');
      }),
      { numRuns: 100 },
    );
  });

  it('gives a secret to only one of many takers', async () => {
    const stores = [place.open(), place.open()];
    for (let round = 0; round < 5; round += 1) {
      await stores[0]?.put('acme', 'once', 'x');
      const taken = await Promise.all(Array.from({ length: 20 }, (_, at) => stores[at % 2]?.take('acme', 'once')));
      expect(taken.filter(value => value === 'x')).toHaveLength(1);
      expect(taken.filter(value => value === null)).toHaveLength(19);
    }
  });

  it('loses nothing that is stored while another caller takes', async () => {
    const [taker, putter] = [place.open(), place.open()];
    for (let round = 0; round < 20; round += 1) {
      await putter.put('acme', 'race', 'old');
      const [taken] = await Promise.all([taker.take('acme', 'race'), putter.put('acme', 'race', 'new')]);
      const left = await taker.get('acme', 'race');
      expect([taken, left]).toEqual(taken === 'old' ? ['old', 'new'] : ['new', null]);
      await taker.delete('acme', 'race');
    }
  });
});
