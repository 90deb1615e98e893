import { z } from 'zod';
import { MINUTE_MS } from '../../platform/clock.ts';
import { randomToken } from '../../platform/crypto/digest.ts';
import { isSignedWith } from './presets/hmac.ts';

/**
 * The signing secrets of a webhook in the secret store: a single value, so that a rotation
 * happens completely or not at all.
 */
export const SigningSecrets = z.strictObject({
  current: z.string(),
  /** The secret before the last rotation, and the time until which it is accepted (ms). */
  previous: z.strictObject({ secret: z.string(), until: z.number() }).nullable(),
});
export type SigningSecrets = z.output<typeof SigningSecrets>;

/** Returns the name under which the secrets of a webhook are stored. */
export const signingSecretName = (webhookId: string) => `webhook/${webhookId}`;

/** `whsec_` and 256 random bits in base64url (docs/specification/webhooks.md#subscription). */
export function newSigningSecret(): string {
  return `whsec_${randomToken(32)}`;
}

/** A delivery is accepted for this long before and after the time of its signature. */
export const TIMESTAMP_TOLERANCE_MS = 5 * MINUTE_MS;

export type Signed = { body: Uint8Array; signature: string | undefined; timestamp: string | undefined };

/**
 * Returns the secrets of a webhook that are accepted at `now`: the current one, and the previous one until it expires.
 */
export function acceptedSecrets(secrets: SigningSecrets | null, now: number): [string | null, string | null] {
  const previous = secrets?.previous && secrets.previous.until > now ? secrets.previous.secret : null;
  return [secrets?.current ?? null, previous];
}

/** Returns whether one of the secrets that are accepted at `now` signed the request. */
export function isSigned(signed: Signed, secrets: SigningSecrets | null, now: number): boolean {
  return isSignedBy(signed, acceptedSecrets(secrets, now));
}

/**
 * Returns whether one of the secrets signed exactly these bytes: `sha256=<hex HMAC-SHA256>` over the raw body, or over
 * `<timestamp>.<raw body>` if there is a timestamp. Computes an HMAC for each secret and compares in constant time,
 * even if something is missing or malformed.
 */
export function isSignedBy({ body, signature, timestamp }: Signed, secrets: readonly (string | null)[]): boolean {
  const given = parseSignature(signature);
  const message = timestamp === undefined ? [body] : [`${timestamp}.`, body];
  return isSignedWith(secrets, message, given === null ? [] : [given]);
}

/**
 * Returns until when (ms) a delivery that was signed at `timestamp` could be replayed; null if it could be forever.
 * Includes ten extra minutes for processes whose clocks differ.
 */
export function replayableUntil(timestamp: string | undefined): number | null {
  return timestamp === undefined ? null : Number(timestamp) * 1000 + TIMESTAMP_TOLERANCE_MS + 10 * 60_000;
}

/** Returns the 32 bytes of `sha256=<64 hex digits>`; null for anything else, such as a repeated header. */
export function parseSignature(header: string | undefined): Buffer | null {
  const hex = /^sha256=([0-9a-fA-F]{64})$/.exec(header ?? '')?.[1];
  return hex === undefined ? null : Buffer.from(hex, 'hex');
}

/**
 * Returns whether a timestamp header is valid: whole seconds within five minutes of now, and
 * absent only if not `required`.
 */
export function isTimely(timestamp: string | undefined, required: boolean, now: number): boolean {
  if (timestamp === undefined) return !required;
  return /^\d{1,12}$/.test(timestamp) && Math.abs(now - Number(timestamp) * 1000) <= TIMESTAMP_TOLERANCE_MS;
}
