import { afterEach, describe, expect, it } from 'vitest';
import { startTestVault, type TestVault, testRole } from '../../testing/vault.ts';
import { ManualClock } from '../clock.ts';
import { VaultSecretStore } from './vault-secret-store.ts';
import type { VaultSettings } from './vault-session.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** Creates a store on a fresh Vault, with timers: `ring` fires one after advancing the clock. */
async function start(
  credentials: (vault: TestVault) => VaultSettings['credentials'],
  options: { namespace?: string; sent?: string; timeoutMs?: number } = {},
) {
  const clock = new ManualClock();
  const vault = await startTestVault(clock, options);
  closing.push(() => vault.close());
  const alarms = new Set<{ delayMs: number; ring: () => void }>();
  const namespace = options.sent ?? options.namespace;
  const settings = {
    address: vault.address,
    mount: 'secret',
    prefix: 'team/baton',
    namespace,
    credentials: credentials(vault),
  };
  const store = new VaultSecretStore({
    settings,
    clock,
    alarm(delayMs, ring) {
      const alarm = { delayMs, ring };
      alarms.add(alarm);
      return () => void alarms.delete(alarm);
    },
    // Generous for a slow machine, unless the timeout itself is tested.
    timeoutMs: options.timeoutMs ?? 60_000,
  });
  return {
    vault,
    store,
    clock,
    waits: () => [...alarms].map(({ delayMs }) => delayMs),
    async ring() {
      const [alarm] = alarms;
      if (!alarm) throw new Error('It waits for nothing.');
      alarms.delete(alarm);
      clock.advance(alarm.delayMs);
      const before = vault.requests.length;
      alarm.ring();
      await expect.poll(() => vault.requests.length > before && alarms.size > 0).toBe(true);
    },
  };
}
const byToken = (vault: TestVault) => ({ token: vault.issue(0) });
const byRole = () => testRole;
const away = { status: 503, code: 'secret_store_unavailable' };

describe('secrets in Vault', () => {
  it('are stored at prefix, tenant and name; a take leaves no secret behind, a delete not even a name', async () => {
    const { vault, store } = await start(byToken);
    await store.put('acme', 'pat/1', 'first');
    await store.put('acme', 'pat/1', 'second');
    expect([...vault.entries.keys()]).toEqual(['team/baton/acme/pat/1']);
    expect(await store.take('acme', 'pat/1')).toBe('second');
    expect(JSON.stringify([...vault.entries.values()])).not.toMatch(/first|second/);
    await store.delete('acme', 'pat/1');
    expect(vault.entries.size).toBe(0);
  });

  it('that are stored while a take cleans up are kept', async () => {
    const { vault, store } = await start(byToken);
    await store.put('acme', 'n', 'old');
    vault.before = async request => {
      if (!/^(GET|DELETE) secret.metadata|destroy/.test(request)) return;
      vault.before = async () => {};
      await store.put('acme', 'n', 'new');
    };
    expect(await store.take('acme', 'n')).toBe('old');
    expect(await store.get('acme', 'n')).toBe('new');
    expect(JSON.stringify([...vault.entries.values()])).not.toContain('old');
  });

  it('that are taken are returned even if the cleanup fails', async () => {
    const { vault, store } = await start(byToken);
    await store.put('acme', 'n', 'once');
    vault.before = async request => {
      if (request.includes('metadata')) vault.mood = 'sealed';
    };
    expect(await store.take('acme', 'n')).toBe('once');
    vault.mood = 'well';
    expect(await store.take('acme', 'n')).toBeNull();
  });

  it('are reached only in their namespace', async () => {
    const { store } = await start(byToken, { namespace: 'team-a' });
    await store.put('acme', 'n', 'x');
    expect(await store.get('acme', 'n')).toBe('x');
    const elsewhere = await start(byToken, { namespace: 'team-a', sent: 'team-b' });
    await expect(elsewhere.store.put('acme', 'n', 'x')).rejects.toMatchObject(away);
  });

  it('are 503 while Vault is sealed, denies, answers nonsense, redirects or is gone, and no error contains one', async () => {
    const { vault, store } = await start(byToken);
    await store.put('acme', 'n', 'S3CRET');
    const token = [...vault.tokens.keys()][0] ?? '';
    const attempts = () => [
      store.put('acme', 'm', 'S3CRET'),
      store.get('acme', 'n'),
      store.take('acme', 'n'),
      store.delete('acme', 'n'),
    ];
    for (const mood of ['sealed', 'denying', 'babbling', 'flooding', 'redirecting', 'gone'] as const) {
      if (mood === 'gone') await vault.close();
      else vault.mood = mood;
      const settled = await Promise.allSettled(attempts());
      for (const result of settled.slice(0, mood === 'babbling' ? 3 : 4)) {
        expect(result, mood).toMatchObject({ status: 'rejected', reason: away });
        const { reason } = result as PromiseRejectedResult;
        const errorText = `${reason.message} ${reason.stack} ${reason.cause.message} ${reason.cause.stack} ${JSON.stringify(reason)}`;
        expect(errorText).not.toContain('S3CRET');
        expect(errorText).not.toContain(token);
        expect(reason.cause.cause).toBeUndefined();
      }
    }
    expect(vault.requests.filter(request => request.includes('elsewhere'))).toEqual([]);
  });

  it('are 503 when Vault does not answer within the time limit', async () => {
    const { vault, store } = await start(byToken, { timeoutMs: 50 });
    vault.mood = 'silent';
    await expect(store.get('acme', 'n')).rejects.toMatchObject({
      ...away,
      cause: { message: 'Vault cannot be reached (TimeoutError)' },
    });
  });

  it('are available again once Vault is', async () => {
    const { vault, store } = await start(byRole);
    vault.mood = 'sealed';
    await expect(store.check()).rejects.toMatchObject(away);
    vault.mood = 'well';
    await store.check();
    await store.put('acme', 'n', 'x');
    expect(await store.get('acme', 'n')).toBe('x');
  });
});

describe('a token of Vault', () => {
  it('of a role is obtained by one login, however many requests wait for it', async () => {
    const { vault, store } = await start(byRole);
    await Promise.all(Array.from({ length: 10 }, (_, at) => store.put('acme', `n${at}`, 'x')));
    expect(vault.requests.filter(request => request.endsWith('login'))).toHaveLength(1);
  });

  it('of a role is obtained again after it was revoked or has expired', async () => {
    const { vault, store, clock } = await start(byRole);
    await store.put('acme', 'n', 'x');
    vault.tokens.clear();
    const got = await Promise.all([1, 2, 3].map(() => store.get('acme', 'n')));
    expect(got).toEqual(['x', 'x', 'x']);
    expect(vault.tokens.size).toBe(1);
    clock.advance(3600_000);
    expect(await store.get('acme', 'n')).toBe('x');
    expect(vault.requests.filter(request => request.endsWith('login'))).toHaveLength(3);
  });

  it('of a role that is unknown or not permitted is 503, and requested at most twice', async () => {
    const unknown = await start(() => ({ roleId: 'other', secretId: 'S3CRET' }));
    await expect(unknown.store.get('acme', 'n')).rejects.toMatchObject(away);
    const { vault, store } = await start(byRole);
    vault.mood = 'denying';
    await expect(store.get('acme', 'n')).rejects.toMatchObject(away);
    expect(vault.requests.filter(request => request.endsWith('login'))).toHaveLength(2);
  });

  it('is renewed at two thirds of its lifetime, repeatedly, until the store is closed', async () => {
    const { vault, store, waits, ring } = await start(given => ({ token: given.issue(600) }));
    await store.put('acme', 'n', 'x');
    for (let round = 0; round < 3; round += 1) {
      expect(waits()).toEqual([400_000]);
      await ring();
    }
    expect(vault.requests.filter(request => request.endsWith('renew-self'))).toHaveLength(3);
    expect(await store.get('acme', 'n')).toBe('x');
    store.close();
    expect(waits()).toEqual([]);
  });

  it('is renewed again if a renewal failed', async () => {
    const { vault, store, waits, ring } = await start(given => ({ token: given.issue(600) }));
    await store.put('acme', 'n', 'x');
    vault.mood = 'sealed';
    await ring();
    expect(waits()).toEqual([200_000 / 3]);
    vault.mood = 'well';
    await ring();
    expect(waits()).toEqual([400_000]);
    expect(await store.get('acme', 'n')).toBe('x');
  });

  it('that is valid for months is renewed daily: a timer takes at most 24 days', async () => {
    const { store, waits } = await start(vault => ({ token: vault.issue(90 * 86_400) }));
    await store.put('acme', 'n', 'x');
    expect(waits()).toEqual([86_400_000]);
  });

  it('that never expires is not renewed', async () => {
    const { store, waits } = await start(byToken);
    await store.put('acme', 'n', 'x');
    expect(waits()).toEqual([]);
  });
});
