import { randomBytes } from 'node:crypto';
import { randomToken } from '../../../platform/crypto/digest.ts';
import { invalid } from '../../../platform/errors.ts';
import { noteShownSecrets } from '../../../platform/secrets/in-use.ts';
import { newSigningSecret } from '../signature.ts';
import { PRESETS, type PresetName } from './catalog.ts';
import { standardKey } from './standard-webhooks.ts';

/** The permitted length of a secret that a person gives, in characters. */
const GIVEN_LENGTH = { min: 16, max: 255 } as const;

/** Returns a new secret in the form that the preset requires, with 256 random bits. */
function generateSecret(preset: PresetName): string {
  if (preset === 'baton') return newSigningSecret();
  if (preset === 'standard-webhooks') return `whsec_${randomBytes(32).toString('base64')}`;
  return randomToken(32);
}

/**
 * Returns the secret to store: the given one, or a generated one; null if only the sender can create it and it was not
 * given. Throws AppError 422 `invalid_secret` for a secret that the preset does not accept.
 */
export function secretFor(preset: PresetName, given: string | undefined): { secret: string | null; shown: boolean } {
  const { secretSource } = PRESETS[preset];
  if (given === undefined) {
    return secretSource === 'sender' ? { secret: null, shown: false } : { secret: generateSecret(preset), shown: true };
  }
  noteShownSecrets([given]);
  const problem = problemOf(preset, given);
  if (problem !== null) throw unusableSecret(problem);
  return { secret: given, shown: false };
}

/** Returns the AppError 422 for a `signing_secret`. */
export const unusableSecret = (message: string) =>
  invalid('The signing secret cannot be used.', [{ path: 'signing_secret', message }], 'invalid_secret');

function problemOf(preset: PresetName, given: string): string | null {
  if (PRESETS[preset].secretSource === 'baton') return 'cannot be given: Baton generates it';
  if (preset === 'standard-webhooks') {
    return standardKey(given) ? null : 'must be whsec_ and the Base64 of 24 to 64 bytes';
  }
  if (preset === 'stripe' && !given.startsWith('whsec_')) return 'must be the endpoint’s signing secret, whsec_…';
  if (given.length < GIVEN_LENGTH.min || given.length > GIVEN_LENGTH.max) {
    return `must be ${GIVEN_LENGTH.min} to ${GIVEN_LENGTH.max} characters`;
  }
  return /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(given)
    ? null
    : 'must be printable ASCII characters, without spaces at the ends';
}
