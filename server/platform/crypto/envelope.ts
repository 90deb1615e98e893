import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

const VERSION = 1;
const IV_BYTES = 12;
const TAG_BYTES = 16;
const HEADER_BYTES = 1 + IV_BYTES + TAG_BYTES;

/** The error for a ciphertext that does not belong to this key and place, or was changed. */
export class DecryptionError extends Error {
  constructor() {
    super('The ciphertext does not decrypt with this key for this place.');
    this.name = 'DecryptionError';
  }
}

/**
 * Encodes the place to which a ciphertext belongs. JSON distinguishes ('a','bc') from
 * ('ab','c'), which joining would not.
 */
function additionalData(place: readonly string[]): Buffer {
  return Buffer.from(JSON.stringify(place), 'utf8');
}

/**
 * Encrypts with AES-256-GCM: one version byte, 12 random bytes of IV, 16 of tag, then the ciphertext. `place` is
 * authenticated but not stored: decryption requires the same place.
 */
export function seal(key: Uint8Array, plaintext: Uint8Array, place: readonly string[]): Buffer {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, iv, { authTagLength: TAG_BYTES });
  cipher.setAAD(additionalData(place));
  const body = Buffer.concat([cipher.update(plaintext), cipher.final()]);
  return Buffer.concat([Buffer.of(VERSION), iv, cipher.getAuthTag(), body]);
}

/** Decrypts a ciphertext that `seal` made with the same key and place. Throws DecryptionError for any other bytes. */
export function open(key: Uint8Array, sealed: Uint8Array, place: readonly string[]): Buffer {
  if (sealed.length < HEADER_BYTES || sealed[0] !== VERSION) throw new DecryptionError();
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(1, 1 + IV_BYTES), { authTagLength: TAG_BYTES });
  decipher.setAAD(additionalData(place));
  decipher.setAuthTag(sealed.subarray(1 + IV_BYTES, HEADER_BYTES));
  try {
    return Buffer.concat([decipher.update(sealed.subarray(HEADER_BYTES)), decipher.final()]);
  } catch {
    throw new DecryptionError();
  }
}
