import { isTimely } from '../signature.ts';
import { digestOfBase64, identityOf, isSignedWith, MAX_SIGNATURES } from './hmac.ts';
import type { PresetRules, Received } from './preset.ts';

/** Returns the three headers by their names in the specification, or by the earlier names of Svix. */
function headersOf({ header }: Pick<Received, 'header'>) {
  const prefix =
    header('webhook-signature') === undefined && header('svix-signature') !== undefined ? 'svix' : 'webhook';
  return {
    id: header(`${prefix}-id`),
    timestamp: header(`${prefix}-timestamp`),
    signature: header(`${prefix}-signature`),
  };
}

/** The permitted length of a key in bytes, as the specification requires. */
const KEY_BYTES = { min: 24, max: 64 } as const;

/** Returns the bytes of a secret (`whsec_` and Base64), or null if it is malformed. */
export function standardKey(secret: string): Buffer | null {
  const base64 = secret.replace(/^whsec_/, '');
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(base64) || base64.length % 4 !== 0) return null;
  const key = Buffer.from(base64, 'base64');
  return key.length >= KEY_BYTES.min && key.length <= KEY_BYTES.max ? key : null;
}

/** Parses `v1,<Base64> v1,<Base64> v1a,…`: a signature for each active secret. Other versions are ignored. */
function parseStandardSignatures(header: string): Buffer[] {
  return header
    .split(' ', MAX_SIGNATURES)
    .map(item => (item.startsWith('v1,') ? digestOfBase64(item.slice(3)) : null))
    .filter(digest => digest !== null);
}

/**
 * Standard Webhooks (standardwebhooks.com): HMAC-SHA256 over `<id>.<time>.<body>`, keyed with the decoded secret. An id
 * with a full stop is refused: parts of the message could move from one field to the next under the same signature.
 */
export const standardWebhooksPreset: PresetRules = {
  verify(received, { secrets, now }) {
    const { body } = received;
    const { id, timestamp, signature: given } = headersOf(received);
    const keys = secrets.map(secret => (secret === null ? null : standardKey(secret)));
    const signed = isSignedWith(keys, [`${id}.${timestamp}.`, body], parseStandardSignatures(given ?? ''));
    if (id === undefined || timestamp === undefined || given === undefined) return 'missing_signature';
    if (!isTimely(timestamp, true, now)) return 'bad_timestamp';
    return signed && /^[\x21-\x2d\x2f-\x7e]{1,256}$/.test(id) ? null : 'bad_signature';
  },
  identify: (received, _payload, now) => identityOf(['standard-webhooks', headersOf(received).id ?? ''], now),
};
