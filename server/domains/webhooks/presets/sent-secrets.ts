import { randomBytes } from 'node:crypto';
import { constantTimeEqual } from '../../../platform/crypto/digest.ts';
import type { PresetRules } from './preset.ts';

/** Replaces a missing value, so that the work is the same. */
const decoy = randomBytes(32);

/** Returns whether the sent value is one of the two accepted ones, comparing it with both in constant time. */
function isOneOf(sent: Uint8Array | null, accepted: readonly (string | null)[]): boolean {
  const matches = accepted.map(value => {
    const equal = constantTimeEqual(sent ?? decoy, value ?? decoy);
    return equal && sent !== null && value !== null;
  });
  return matches.includes(true);
}

/** Returns the bytes of `user:password` in an `Authorization` header (RFC 7617); null for any other header. */
export function parseBasic(header: string | undefined): Buffer | null {
  const base64 = /^Basic +([A-Za-z0-9+/]{1,1024}={0,2}) *$/i.exec(header ?? '')?.[1];
  return base64 === undefined ? null : Buffer.from(base64, 'base64');
}

/** HTTP Basic authentication. Deliveries have no signature and no identity, so repetitions are not recognized. */
export const basicPreset: PresetRules = {
  verify({ header }, { secrets, username }) {
    const given = header('authorization');
    const accepted = secrets.map(secret => (secret === null ? null : `${username ?? ''}:${secret}`));
    const known = isOneOf(parseBasic(given), accepted);
    if (given === undefined) return 'missing_signature';
    return known ? null : 'bad_signature';
  },
  identify: () => null,
};

/** A secret segment of the address. Deliveries have no signature and no identity, so repetitions are not recognized. */
export const secretUrlPreset: PresetRules = {
  verify({ pathSecret }, { secrets }) {
    const known = isOneOf(pathSecret === null ? null : Buffer.from(pathSecret), secrets);
    return known ? null : 'bad_signature';
  },
  identify: () => null,
};
