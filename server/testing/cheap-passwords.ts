/**
 * A setup file of vitest, and loaded by services under test (`CHEAP_PASSWORDS` of e2e/fixtures/server.ts): keys of
 * passwords are derived in a thousandth of the time. Code and hashes still name the real cost; only a hash of a process
 * without this file does not match. The real cost remains in tests of `npm start`, of the set-up, of the example, and of
 * floods of sign-ins (e2e/start, e2e/security, e2e/journeys/setup.spec.ts and main-job.spec.ts).
 */
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';

/** That of `defaultCost`, whose module this file must not load: some tests replace what that one imports. */
const REAL_N = 2 ** 15;
const key = Symbol.for('baton.testing.scrypt');
const kept = globalThis as typeof globalThis & { [key]?: typeof crypto.scrypt };
// This file runs before each file of tests, and workers are shared.
kept[key] ??= crypto.scrypt;
const scrypt = kept[key];

/** Makes the tests of the present file derive keys at the real cost again. */
export function useRealCost(): void {
  crypto.scrypt = scrypt;
  syncBuiltinESMExports();
}

crypto.scrypt = new Proxy(scrypt, {
  apply(target, self, [password, salt, length, options, done]: Parameters<typeof scrypt>) {
    const cheaper = options.N === REAL_N ? { ...options, N: 16 } : options;
    return Reflect.apply(target, self, [password, salt, length, cheaper, done]);
  },
});
syncBuiltinESMExports();
