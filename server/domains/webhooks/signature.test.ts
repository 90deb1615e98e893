import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { sign } from '../../testing/webhooks.ts';
import { isSigned, isTimely, newSigningSecret, type SigningSecrets } from './signature.ts';

const now = Date.UTC(2026, 0, 1);
const onlyCurrent = (current: string): SigningSecrets => ({ current, previous: null });

test('a secret is whsec_ and 43 base64url characters, never twice the same', () => {
  const made = Array.from({ length: 100 }, newSigningSecret);
  for (const secret of made) expect(secret).toMatch(/^whsec_[A-Za-z0-9_-]{43}$/);
  expect(new Set(made).size).toBe(100);
});

describe('a signature', () => {
  const bytes = fc.uint8Array({ maxLength: 200 });
  const stamp = fc.option(fc.string({ maxLength: 12 }), { nil: undefined });

  test('is valid for every body and timestamp from which it was computed', () => {
    fc.assert(
      fc.property(bytes, stamp, fc.string({ minLength: 1 }), (body, timestamp, secret) => {
        const signature = sign(secret, body, timestamp);
        expect(isSigned({ body, timestamp, signature }, onlyCurrent(secret), now)).toBe(true);
        expect(
          isSigned(
            { body, timestamp, signature: signature.replace(/[a-f](?!.*=)/g, hex => hex.toUpperCase()) },
            onlyCurrent(secret),
            now,
          ),
        ).toBe(true);
      }),
    );
  });

  test('is invalid for every other body, even if only one bit differs', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 200 }), fc.nat(), fc.nat(7), (body, at, bit) => {
        const signature = sign('whsec_a', body);
        const other = Uint8Array.from(body, (byte, index) => (index === at % body.length ? byte ^ (1 << bit) : byte));
        expect(isSigned({ body: other, timestamp: undefined, signature }, onlyCurrent('whsec_a'), now)).toBe(false);
      }),
    );
  });

  test('is refused with any additional text, such as from a repeated header', () => {
    const body = Buffer.from('{}');
    const right = sign('whsec_a', body);
    const headers = [
      `${right}, ${right}`,
      `${right}0`,
      `${right}\n`,
      ` ${right}`,
      `x${right}`,
      `sha256=${right}`,
      right.slice(7),
    ];
    for (const signature of headers)
      expect(isSigned({ body, timestamp: undefined, signature }, onlyCurrent('whsec_a'), now), signature).toBe(false);
  });

  test('cannot be guessed: any other header is refused, and none throws', () => {
    const body = Buffer.from('{}');
    const near = fc.array(fc.constantFrom(...'0123456789abcdefABCDEF'), { minLength: 60, maxLength: 68 });
    const header = fc.oneof(
      fc.string({ unit: 'binary' }),
      near.map(hex => `sha256=${hex.join('')}`),
    );
    fc.assert(
      fc.property(fc.option(header, { nil: undefined }), stamp, (signature, timestamp) => {
        expect(isSigned({ body, timestamp, signature }, onlyCurrent('whsec_a'), now)).toBe(false);
        expect(isSigned({ body, timestamp, signature }, null, now)).toBe(false);
      }),
    );
  });

  test('by the secret before the last rotation is valid until that secret expires', () => {
    const secrets: SigningSecrets = { current: 'whsec_b', previous: { secret: 'whsec_a', until: now + 1000 } };
    const isAccepted = (secret: string, at: number) =>
      isSigned({ body: Buffer.from('x'), timestamp: undefined, signature: sign(secret, 'x') }, secrets, at);
    expect([isAccepted('whsec_b', now), isAccepted('whsec_a', now), isAccepted('whsec_a', now + 999)]).toEqual([
      true,
      true,
      true,
    ]);
    expect([isAccepted('whsec_a', now + 1000), isAccepted('whsec_b', now + 1000)]).toEqual([false, true]);
  });
});

test('a timestamp is whole seconds within five minutes', () => {
  const seconds = now / 1000;
  const timely = (text: string | undefined, required = false) => isTimely(text, required, now);
  expect([timely(undefined), timely(undefined, true)]).toEqual([true, false]);
  expect([-300, -299, 0, 300].map(off => timely(String(seconds + off)))).toEqual([true, true, true, true]);
  expect([-301, 301].map(off => timely(String(seconds + off)))).toEqual([false, false]);
  for (const text of [
    '',
    ' ',
    '1.5',
    '-1',
    `+${seconds}`,
    `${seconds} `,
    `0x${seconds.toString(16)}`,
    '1e9',
    String(now),
  ]) {
    expect(timely(text), text).toBe(false);
  }
  fc.assert(fc.property(fc.string({ unit: 'binary' }), text => !timely(text) || /^\d+$/.test(text)));
});

test('the example in docs/webhooks.md is right', () => {
  const signature = 'sha256=ad0427699ce7fdb68a5012914202a6013bf8b5d0ca0fc59a40557f9a1a532334';
  const signed = { body: Buffer.from('{"order":1042}'), timestamp: '1767225600', signature };
  expect(isSigned(signed, onlyCurrent('whsec_test'), now)).toBe(true);
  expect(readFileSync(new URL('../../../docs/webhooks.md', import.meta.url), 'utf8')).toContain(signature);
});
