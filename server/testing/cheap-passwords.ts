/**
 * Makes the derivation of password keys a thousand times cheaper. A setup file of vitest, which services under test
 * also load (`CHEAP_PASSWORDS` of e2e/fixtures/server.ts). Code and hashes still name the real cost; only a hash of a
 * process without this file does not match. The real cost remains in tests of `npm start`, of the set-up, of the
 * example, and of floods of sign-ins (e2e/start, e2e/security, e2e/journeys/setup.spec.ts and main-job.spec.ts).
 */
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';

/** The N of `defaultCost`, whose module this file must not load: some tests replace modules that it imports. */
const REAL_N = 2 ** 15;
const key = Symbol.for('baton.testing.scrypt');
const kept = globalThis as typeof globalThis & { [key]?: typeof crypto.scrypt };
// This file runs before each test file, and test files share workers.
kept[key] ??= crypto.scrypt;
const scrypt = kept[key];

/** Makes the tests of the present file derive keys at the real cost. */
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
