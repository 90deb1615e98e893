import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { sha256 } from '../../../platform/crypto/digest.ts';
import type { Identity } from './preset.ts';

/** Replaces a missing key or digest, so that the work is the same; no sender can sign with it. */
const decoy = randomBytes(32);

/** The maximum number of signatures in one header: senders send one for each secret of a rotation. */
export const MAX_SIGNATURES = 16;

type Key = string | Buffer | null;

/**
 * Returns whether one of the digests is the HMAC-SHA256 of the message with one of the keys. Computes one HMAC for each
 * key, including null ones, and compares all pairs in constant time.
 */
export function isSignedWith(
  keys: readonly Key[],
  message: readonly (string | Uint8Array)[],
  digests: readonly Buffer[],
): boolean {
  const given = digests.length === 0 ? [null] : digests;
  const matches = keys.flatMap(key => {
    const mac = createHmac('sha256', key ?? decoy);
    for (const part of message) mac.update(part);
    const digest = mac.digest();
    return given.map(each => timingSafeEqual(digest, each ?? decoy) && key !== null && each !== null);
  });
  return matches.includes(true);
}

/** Returns the 32 bytes of 64 hex digits; null for any other text. */
export function digestOfHex(text: string): Buffer | null {
  return /^[0-9a-fA-F]{64}$/.test(text) ? Buffer.from(text, 'hex') : null;
}

/** Returns the 32 bytes of padded Base64; null for any other text. */
export function digestOfBase64(text: string): Buffer | null {
  return /^[A-Za-z0-9+/]{43}=$/.test(text) ? Buffer.from(text, 'base64') : null;
}

/**
 * Senders repeat a delivery whose answer was lost for hours. An identity is known for as long as an Idempotency-Key.
 */
const KNOWN_FOR_MS = 24 * 3_600_000;

/** Returns the identity of a delivery from the id that its sender gives. */
export function identityOf(parts: readonly string[], now: number): Identity {
  return { digest: sha256(JSON.stringify(parts)), knownUntil: now + KNOWN_FOR_MS, withKeyOnly: false };
}
