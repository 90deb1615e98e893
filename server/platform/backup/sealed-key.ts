import { randomBytes, scrypt } from 'node:crypto';
import { DecryptionError, open, seal } from '../crypto/envelope.ts';
import type { SealedKey } from './manifest.ts';

/** OWASP's first scrypt profile: 128 MiB and 0.4 s for each guess. A backup may be attacked for years, on other machines. */
const COST = { log2N: 17, r: 8, p: 1 } as const;
const SALT_BYTES = 16;
const KEY_BYTES = 32;

function derive(passphrase: string, salt: Uint8Array, { log2N, r, p }: { log2N: number; r: number; p: number }) {
  const N = 2 ** log2N;
  return new Promise<Buffer>((resolve, reject) => {
    // NFKC, so that a passphrase typed on another keyboard or system gives the same bytes.
    scrypt(passphrase.normalize('NFKC'), salt, KEY_BYTES, { N, r, p, maxmem: 256 * N * r }, (error, key) =>
      error ? reject(error) : resolve(key),
    );
  });
}

/** The fingerprint of the master key is authenticated with it: the sealed key of another installation does not open. */
const place = (fingerprint: string) => ['backup-master-key', fingerprint];

/** Encrypts a master key under a passphrase (scrypt, AES-256-GCM). */
export async function sealMasterKey(
  masterKey: Uint8Array,
  { passphrase, fingerprint }: { passphrase: string; fingerprint: string },
): Promise<SealedKey> {
  const salt = randomBytes(SALT_BYTES);
  const sealed = seal(await derive(passphrase, salt, COST), masterKey, place(fingerprint));
  return { salt: salt.toString('hex'), ...COST, sealed: sealed.toString('hex') };
}

/** Returns the master key; null if the passphrase is wrong. */
export async function openMasterKey(
  { salt, sealed, ...cost }: SealedKey,
  { passphrase, fingerprint }: { passphrase: string; fingerprint: string },
): Promise<Buffer | null> {
  const key = await derive(passphrase, Buffer.from(salt, 'hex'), cost);
  try {
    return open(key, Buffer.from(sealed, 'hex'), place(fingerprint));
  } catch (error) {
    if (error instanceof DecryptionError) return null;
    throw error;
  }
}
