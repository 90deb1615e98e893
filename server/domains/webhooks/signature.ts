import { z } from 'zod';
import { randomToken } from '../../platform/crypto/digest.ts';
import { isSignedWith } from './presets/hmac.ts';

/** The signing secrets of a webhook, as they rest in the secret store: one value, so that a rotation happens wholly or not at all. */
export const SigningSecrets = z.strictObject({
  current: z.string(),
  /** The one before the last rotation, and until when (ms) it is accepted. */
  previous: z.strictObject({ secret: z.string(), until: z.number() }).nullable(),
});
export type SigningSecrets = z.output<typeof SigningSecrets>;

/** Where the secrets of a webhook rest. */
export const signingSecretName = (webhookId: string) => `webhook/${webhookId}`;

/** `whsec_` and 256 random bits in base64url (docs/specification/webhooks.md#subscription). */
export function newSigningSecret(): string {
  return `whsec_${randomToken(32)}`;
}

/** A delivery is accepted for this long before and after the time of its signature. */
export const timestampToleranceMs = 5 * 60_000;

export type Signed = { body: Uint8Array; signature: string | undefined; timestamp: string | undefined };

/** The secrets of a webhook that are accepted at `now`: the current one, and the previous one until its time is over. */
export function acceptedSecrets(secrets: SigningSecrets | null, now: number): [string | null, string | null] {
  const previous = secrets?.previous && secrets.previous.until > now ? secrets.previous.secret : null;
  return [secrets?.current ?? null, previous];
}

/** `isSignedBy` with the secrets that are accepted at `now`. */
export function isSigned(signed: Signed, secrets: SigningSecrets | null, now: number): boolean {
  return isSignedBy(signed, acceptedSecrets(secrets, now));
}

/**
 * Whether one of the secrets signed these very bytes: `sha256=<hex HMAC-SHA256>` over the raw body, with a timestamp over
 * `<timestamp>.<raw body>`. Whatever is missing or malformed, it computes an HMAC for each secret and compares in constant time.
 */
export function isSignedBy({ body, signature, timestamp }: Signed, secrets: readonly (string | null)[]): boolean {
  const given = parseSignature(signature);
  const message = timestamp === undefined ? [body] : [`${timestamp}.`, body];
  return isSignedWith(secrets, message, given === null ? [] : [given]);
}

/**
 * Until when (ms) a delivery that was signed at `timestamp` may come again; null where it could come again for ever. The ten minutes more are
 * for processes whose clocks differ.
 */
export function replayableUntil(timestamp: string | undefined): number | null {
  return timestamp === undefined ? null : Number(timestamp) * 1000 + timestampToleranceMs + 10 * 60_000;
}

/** The 32 bytes of `sha256=<64 hex digits>`; null for anything else, such as the header sent twice. */
export function parseSignature(header: string | undefined): Buffer | null {
  const hex = /^sha256=([0-9a-fA-F]{64})$/.exec(header ?? '')?.[1];
  return hex === undefined ? null : Buffer.from(hex, 'hex');
}

/** Whether a timestamp header is in order: whole seconds within five minutes of now, and absent only where none is demanded. */
export function isTimely(timestamp: string | undefined, required: boolean, now: number): boolean {
  if (timestamp === undefined) return !required;
  return /^\d{1,12}$/.test(timestamp) && Math.abs(now - Number(timestamp) * 1000) <= timestampToleranceMs;
}
