import { hash, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';

/** Returns the SHA-256 of a string (as UTF-8) or of bytes. */
export function sha256(data: string | Uint8Array): Buffer {
  return hash('sha256', data, 'buffer');
}

/** Compares in a time that reveals neither where nor by how much the two differ: both are hashed to 32 bytes first. */
export function constantTimeEqual(a: string | Uint8Array, b: string | Uint8Array): boolean {
  return timingSafeEqual(sha256(a), sha256(b));
}

/** Returns a random token of `bytes` bytes, base64url without padding: 32 bytes give 43 characters. */
export function randomToken(bytes = 32): string {
  return randomBytes(bytes).toString('base64url');
}

/**
 * Returns a key of `length` bytes for one purpose (HKDF-SHA-256, RFC 5869). Purposes are separate: knowing one derived
 * key reveals nothing about another, or about the master key.
 */
export function deriveKey(masterKey: Uint8Array, purpose: string, length = 32): Buffer {
  return Buffer.from(hkdfSync('sha256', masterKey, '', `baton/${purpose}`, length));
}
