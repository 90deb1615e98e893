import { createHmac, timingSafeEqual } from 'node:crypto';
import { deriveKey } from '../crypto/digest.ts';
import { FORMAT } from './manifest.ts';

/**
 * A backup is a first line, the rows (gzip), the manifest (one line of JSON), and a last line of fixed length. The last line says where
 * the manifest begins, the SHA-256 of all bytes before its own word, and the seal.
 */
export const FIRST_LINE = `baton-backup ${FORMAT}\n`;

const OFFSET_DIGITS = 16;
const OFFSET = /\nmanifest (\d{16})$/;
const SUMS = /^ sha256 ([0-9a-f]{64}) seal ([0-9a-f]{64})\n$/;
/** The length of the part that the checksum covers, and of the part that it does not. */
export const OFFSET_BYTES = '\nmanifest '.length + OFFSET_DIGITS;
export const SUMS_BYTES = ' sha256  seal \n'.length + 2 * 64;

/** Returns the part of the last line that the checksum covers. */
export const offsetPart = (offset: number): string => `\nmanifest ${String(offset).padStart(OFFSET_DIGITS, '0')}`;

export const sumsPart = (checksum: Buffer, seal: Buffer): string =>
  ` sha256 ${checksum.toString('hex')} seal ${seal.toString('hex')}\n`;

/** Parses the last bytes of a file; null if they are no last line. */
export function parseTrailer(bytes: Buffer): { manifestAt: number; checksum: Buffer; seal: Buffer } | null {
  const offset = OFFSET.exec(bytes.toString('latin1', 0, OFFSET_BYTES));
  const sums = SUMS.exec(bytes.toString('latin1', OFFSET_BYTES));
  if (offset === null || sums === null) return null;
  const [, checksum = '', seal = ''] = sums;
  return {
    manifestAt: Number(offset[1]),
    checksum: Buffer.from(checksum, 'hex'),
    seal: Buffer.from(seal, 'hex'),
  };
}

/**
 * Returns the seal of a checksum: only who has the master key can make it, so that a file which somebody else changed, together with
 * its checksum, is refused.
 */
export const sealOf = (masterKey: Uint8Array, checksum: Uint8Array): Buffer =>
  createHmac('sha256', deriveKey(masterKey, 'backup')).update(checksum).digest();

export const isSealedBy = (masterKey: Uint8Array, { checksum, seal }: { checksum: Buffer; seal: Buffer }): boolean =>
  timingSafeEqual(sealOf(masterKey, checksum), seal);
