import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { generatePatToken, isWellFormedPat, patHash } from './token.ts';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

describe('token format', () => {
  it('is pat_, 40 base62 characters and their CRC32 in base62, padded to 6', () => {
    for (let i = 0; i < 200; i++) {
      const token = generatePatToken();
      expect(token).toMatch(/^pat_[0-9A-Za-z]{46}$/);
      expect(token.slice(-6)).toBe(checksumApart(token.slice(4, -6)));
      expect(isWellFormedPat(token)).toBe(true);
    }
  });

  it('finds every typo of one character and every swap of neighbours', () => {
    const token = generatePatToken();
    for (let at = 0; at < token.length; at++) {
      for (const other of alphabet) {
        if (other === token[at]) continue;
        expect(isWellFormedPat(token.slice(0, at) + other + token.slice(at + 1))).toBe(false);
      }
      const swapped = token.slice(0, at) + (token[at + 1] ?? '') + (token[at] ?? '') + token.slice(at + 2);
      if (swapped !== token) expect(isWellFormedPat(swapped)).toBe(false);
    }
  });

  it('accepts no similar text', () => {
    const token = generatePatToken();
    for (const alike of [
      '',
      'pat_',
      ` ${token}`,
      `${token}\n`,
      `${token} `,
      token.toUpperCase(),
      token.slice(0, -1),
      `${token}0`,
    ]) {
      expect(isWellFormedPat(alike)).toBe(false);
    }
    fc.assert(fc.property(fc.string({ maxLength: 80, unit: 'binary' }), text => !isWellFormedPat(text)));
    fc.assert(
      fc.property(fc.stringMatching(/^[0-9A-Za-z]{46}$/), text => {
        expect(isWellFormedPat(`pat_${text}`)).toBe(text.slice(40) === checksumApart(text.slice(0, 40)));
      }),
    );
  });

  it('differs each time, and so does its hash', () => {
    const tokens = Array.from({ length: 100 }, generatePatToken);
    expect(new Set(tokens.map(token => patHash(token).toString('hex'))).size).toBe(100);
  });
});

/** CRC-32 (IEEE 802.3) bit by bit and base62 with big integers: written independently of the code under test. */
function checksumApart(text: string): string {
  let crc = 0xffffffffn;
  for (const byte of Buffer.from(text)) {
    crc ^= BigInt(byte);
    for (let bit = 0; bit < 8; bit++) crc = crc & 1n ? (crc >> 1n) ^ 0xedb88320n : crc >> 1n;
  }
  crc ^= 0xffffffffn;
  let result = '';
  for (let place = 0; place < 6; place++) {
    result = alphabet.charAt(Number(crc % 62n)) + result;
    crc /= 62n;
  }
  return result;
}
