import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeBase64, decodeHex } from './encoded-bytes.ts';

test('any bytes are decoded from each of their encodings', () => {
  fc.assert(
    fc.property(fc.uint8Array(), given => {
      const bytes = Buffer.from(given);
      const base64 = bytes.toString('base64');
      for (const text of [
        base64,
        base64.replaceAll('=', ''),
        bytes.toString('base64url'),
        base64.replace(/(.{4})/g, '$1\r\n'),
      ]) {
        expect(decodeBase64(text)).toEqual(bytes);
      }
      expect(decodeHex(bytes.toString('hex'))).toEqual(bytes);
      expect(decodeHex(bytes.toString('hex').toUpperCase())).toEqual(bytes);
    }),
  );
});

test.each(['a', 'abcde', 'ab=', 'ab===', 'a=b=', '=', 'ab\u00e4d', 'a,b', '{}'])('%j is not base64', text => {
  expect(decodeBase64(text)).toBeNull();
});

test.each(['a', 'abc', '0x12', 'zz', 'a b'])('%j is not hexadecimal', text => expect(decodeHex(text)).toBeNull());
