import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import Stripe from 'stripe';
import { describe, expect, test } from 'vitest';
import { PRESET_NAMES } from './catalog.ts';
import type { Expected, Received } from './preset.ts';
import { presetRules } from './rules.ts';
import { parseBasic } from './sent-secrets.ts';
import { standardKey } from './standard-webhooks.ts';

type Sent = { body?: string | Uint8Array; headers?: Record<string, string>; pathSecret?: string | null };

function received({ body = '', headers = {}, pathSecret = null }: Sent): Received {
  return { body: Buffer.from(body), header: name => headers[name], attributes: [], pathSecret };
}

function expected(secrets: Expected['secrets'], seconds: number, username: string | null = null): Expected {
  return { secrets, now: seconds * 1000, username, requireTimestamp: false };
}

const HELLO = {
  secret: "It's a Secret to Everybody",
  body: 'Hello, World!',
  signature: 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17',
};

describe('github', () => {
  const { verify, identify, describe: describeEvent } = presetRules.github;
  const check = (headers: Record<string, string>, secrets: Expected['secrets'] = [HELLO.secret, null]) =>
    verify(received({ body: HELLO.body, headers }), expected(secrets, 0));

  test('accepts the example of GitHub’s documentation, with the current and the previous secret', () => {
    const headers = { 'x-hub-signature-256': HELLO.signature };
    expect(check(headers)).toBeNull();
    expect(check(headers, ['another secret', HELLO.secret])).toBeNull();
    expect(check(headers, ['another secret', null])).toBe('bad_signature');
    expect(check(headers, [null, null])).toBe('bad_signature');
  });

  test('ignores SHA-1, and refuses other forms', () => {
    const sha1 = createHmac('sha1', HELLO.secret).update(HELLO.body).digest('hex');
    expect(check({ 'x-hub-signature': `sha1=${sha1}` })).toBe('missing_signature');
    for (const signature of ['', HELLO.signature.slice(7), `${HELLO.signature}0`, HELLO.signature.replace('56', '')]) {
      expect(check({ 'x-hub-signature-256': signature }), signature).toBe('bad_signature');
    }
  });

  test('recognizes a redelivery by its id and body, and shows the event', () => {
    const identifierFor = (id: string, signature = HELLO.signature) => {
      const headers = { 'x-hub-signature-256': signature, 'x-github-delivery': id, 'x-github-event': 'issues' };
      const digest = identify(received({ headers }), {}, 0)?.digest.toString('hex');
      return { digest, fields: describeEvent?.(received({ headers })) };
    };
    expect(identifierFor('72d3162e')).toEqual(identifierFor('72d3162e'));
    expect(identifierFor('72d3162e').digest).not.toBe(identifierFor('72d3162f').digest);
    expect(identifierFor('72d3162e').digest).not.toBe(
      identifierFor('72d3162e', HELLO.signature.replace('7', '8')).digest,
    );
    expect(identifierFor('72d3162e').fields).toEqual({ webhook: { event: 'issues', delivery_id: '72d3162e' } });
    const strange = received({ headers: { 'x-github-event': '<script>', 'x-github-delivery': 'a b' } });
    expect(describeEvent?.(strange)).toEqual({ webhook: {} });
  });
});

describe('stripe', () => {
  const secret = 'whsec_test_secret';
  const payload = JSON.stringify({ id: 'evt_test_webhook', object: 'event' }, null, 2);
  const signedAt = 1_767_225_600;
  const { verify } = presetRules.stripe;
  const check = (header: string, secrets: Expected['secrets'] = [secret, null], now = signedAt) =>
    verify(received({ body: payload, headers: { 'stripe-signature': header } }), expected(secrets, now));
  /** Returns a header that Stripe's own library signs for tests. */
  const headerOf = (key = secret, timestamp = signedAt) =>
    new Stripe('sk_test_1').webhooks.generateTestHeaderString({ payload, secret: key, timestamp });

  test('accepts what Stripe’s own library signs', () => {
    expect(check(headerOf())).toBeNull();
    expect(check(headerOf(), ['whsec_new', secret])).toBeNull();
    expect(check(headerOf('whsec_other'))).toBe('bad_signature');
  });

  test('accepts one right signature of several, and ignores other schemes', () => {
    const right = /v1=([0-9a-f]{64})/.exec(headerOf())?.[1];
    const wrong = 'a'.repeat(64);
    expect(check(`t=${signedAt},v1=${wrong},v1=${right},v0=${wrong}`)).toBeNull();
    expect(check(`t=${signedAt}, v1=${right}`)).toBeNull();
    expect(check(`t=${signedAt},v0=${right}`)).toBe('bad_signature');
    expect(check(`t=${signedAt},v1=${right}0`)).toBe('bad_signature');
    expect(check(`t=${signedAt},t=${signedAt},v1=${right}`)).toBe('bad_timestamp');
    expect(check(`v1=${right}`)).toBe('bad_timestamp');
    expect(check(`t=${signedAt + 1},v1=${right}`)).toBe('bad_signature');
  });

  test('allows 300 seconds, whatever the signature is', () => {
    expect([-300, 300].map(off => check(headerOf(), undefined, signedAt + off))).toEqual([null, null]);
    expect([-301, 301].map(off => check(headerOf(), undefined, signedAt + off))).toEqual([
      'bad_timestamp',
      'bad_timestamp',
    ]);
    expect(check(headerOf('whsec_other'), undefined, signedAt + 301)).toBe('bad_timestamp');
    expect(verify(received({ body: payload }), expected([secret, null], signedAt))).toBe('missing_signature');
  });
});

describe('slack', () => {
  const { verify, acknowledge } = presetRules.slack;
  // The example of Slack's page "Verifying requests from Slack".
  const body =
    'token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c';
  const secret = '8f742231b10e8888abcd99yyyzzz85a5';
  const signedAt = 1_531_420_618;
  const signed = {
    'x-slack-request-timestamp': String(signedAt),
    'x-slack-signature': 'v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503',
  };
  const check = (headers: Record<string, string>, now = signedAt, secrets: Expected['secrets'] = [secret, null]) =>
    verify(received({ body, headers }), expected(secrets, now));

  test('accepts the example of Slack’s documentation within five minutes', () => {
    expect(check(signed)).toBeNull();
    expect(check(signed, signedAt, ['another secret', secret])).toBeNull();
    expect([check(signed, signedAt + 300), check(signed, signedAt + 301)]).toEqual([null, 'bad_timestamp']);
    expect(check({ ...signed, 'x-slack-request-timestamp': String(signedAt + 1) })).toBe('bad_signature');
    expect(check({ ...signed, 'x-slack-signature': signed['x-slack-signature'].replace('v0', 'v1') })).toBe(
      'bad_signature',
    );
    expect(check({ 'x-slack-signature': signed['x-slack-signature'] })).toBe('missing_signature');
  });

  test('answers the challenge, and nothing else', () => {
    const answerTo = (payload: Parameters<typeof presetRules.slack.identify>[1]) =>
      acknowledge?.(received({}), payload) ?? null;
    expect(answerTo({ type: 'url_verification', challenge: '3eZbrw1a', token: 'x' })).toEqual({
      challenge: '3eZbrw1a',
    });
    expect(answerTo({ type: 'event_callback', challenge: '3eZbrw1a' })).toBeNull();
    expect(answerTo({ type: 'url_verification', challenge: 7 })).toBeNull();
  });
});

describe('standard-webhooks', () => {
  const { verify } = presetRules['standard-webhooks'];
  // The test vector of the reference implementations.
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
  const body = '{"test": 2432232314}';
  const signedAt = 1_614_265_330;
  const signed = {
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': String(signedAt),
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  };
  const check = (headers: Record<string, string>, now = signedAt, secrets: Expected['secrets'] = [secret, null]) =>
    verify(received({ body, headers }), expected(secrets, now));

  test('accepts the vector of the reference implementations within five minutes', () => {
    expect(check(signed)).toBeNull();
    expect(check(signed, signedAt, [`whsec_${'A'.repeat(32)}`, secret])).toBeNull();
    expect([check(signed, signedAt - 300), check(signed, signedAt + 301)]).toEqual([null, 'bad_timestamp']);
  });

  test('accepts one right signature of several, and ignores other versions', () => {
    const right = signed['webhook-signature'];
    const with_ = (signature: string) => check({ ...signed, 'webhook-signature': signature });
    expect(with_(`v1,${'A'.repeat(43)}= v1a,x ${right}`)).toBeNull();
    expect(with_(right.replace('v1', 'v2'))).toBe('bad_signature');
    expect(with_(right.slice(0, -1))).toBe('bad_signature');
    expect(with_('')).toBe('bad_signature');
  });

  test('signs the id as well, which may not move a part of the message elsewhere', () => {
    expect(check({ ...signed, 'webhook-id': 'msg_other' })).toBe('bad_signature');
    const { 'webhook-id': _, ...without } = signed;
    expect(check(without)).toBe('missing_signature');
    const key = standardKey(secret) ?? '';
    const signature = createHmac('sha256', key).update(`a.1.${signedAt}.${body}`).digest('base64');
    expect(check({ ...signed, 'webhook-id': 'a.1', 'webhook-signature': `v1,${signature}` })).toBe('bad_signature');
  });

  test('takes keys of 24 to 64 bytes', () => {
    const keyOf = (bytes: number) => standardKey(`whsec_${Buffer.alloc(bytes).toString('base64')}`)?.length ?? null;
    expect([23, 24, 64, 65].map(keyOf)).toEqual([null, 24, 64, null]);
    expect([standardKey('whsec_'), standardKey('whsec_not base64 at all!'), standardKey('')]).toEqual([
      null,
      null,
      null,
    ]);
  });
});

describe('basic and secret-url', () => {
  // RFC 7617, section 2.
  const header = 'Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==';
  const check = (authorization: string | undefined, username: string | null = 'Aladdin', secret = 'open sesame') =>
    presetRules.basic.verify(
      received({ headers: authorization === undefined ? {} : { authorization } }),
      expected([secret, null], 0, username),
    );

  test('basic accepts the example of RFC 7617', () => {
    expect([check(header), check(header.replace('Basic', 'basic'))]).toEqual([null, null]);
    expect(check(undefined)).toBe('missing_signature');
    for (const wrong of ['', 'Basic', 'Basic !', `Bearer ${header.slice(6)}`, `${header}, ${header}`]) {
      expect(check(wrong), wrong).toBe('bad_signature');
    }
    expect([check(header, 'Jasmine'), check(header, 'Aladdin', 'open'), check(header, null)]).toEqual(
      Array(3).fill('bad_signature'),
    );
    expect(parseBasic(header)?.toString()).toBe('Aladdin:open sesame');
  });

  test('secret-url accepts only the secret of the address', () => {
    const verifyWith = (pathSecret: string | null, secrets: Expected['secrets'] = ['right', 'old']) =>
      presetRules['secret-url'].verify(received({ pathSecret }), expected(secrets, 0));
    expect([verifyWith('right'), verifyWith('old')]).toEqual([null, null]);
    expect([
      verifyWith(null),
      verifyWith(''),
      verifyWith('wrong'),
      verifyWith('right', [null, null]),
      verifyWith('', [null, null]),
    ]).toEqual(Array(5).fill('bad_signature'));
  });
});

describe('every preset', () => {
  const names = [
    'authorization',
    'x-service-signature',
    'x-service-timestamp',
    'x-hub-signature-256',
    'x-github-delivery',
    'x-github-event',
    'stripe-signature',
    'x-slack-signature',
    'x-slack-request-timestamp',
    'webhook-id',
    'webhook-timestamp',
    'webhook-signature',
  ];
  const hex = fc.string({ unit: fc.constantFrom(...'0123456789abcdefF'), minLength: 62, maxLength: 66 });
  const base64 = fc.base64String({ minLength: 40, maxLength: 48 });
  const piece = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 40 }),
    fc.constantFrom('t=', 'v1=', 'v0=', 'v1,', 'sha256=', 'Basic ', ',', ' ', '=', '.', '1767225600'),
    hex,
    base64,
  );
  const value = fc.array(piece, { maxLength: 12 }).map(pieces => pieces.join(''));
  const headers = fc.dictionary(fc.constantFrom(...names), value);
  const secrets: Expected['secrets'] = ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', null];

  test.each(PRESET_NAMES)('%s refuses any header that was not made with a secret, and never throws', name => {
    const { verify, identify, describe: fieldsOf } = presetRules[name];
    fc.assert(
      fc.property(headers, fc.uint8Array({ maxLength: 50 }), fc.option(value), (given, body, pathSecret) => {
        const delivery = received({ body, headers: given, pathSecret });
        for (const known of [secrets, [null, null] as const]) {
          expect(verify(delivery, expected(known, 1_767_225_600, 'u'))).not.toBeNull();
        }
        identify(delivery, { id: 'x' }, 0);
        fieldsOf?.(delivery);
      }),
    );
  });

  test.each(PRESET_NAMES)('%s refuses headers of a hundred thousand characters', name => {
    for (const part of ['v1=', 't=1,', 'v1,A ', ' ', '=', 'a']) {
      const long = part.repeat(100_000 / part.length);
      const delivery = received({ headers: Object.fromEntries(names.map(each => [each, long])), pathSecret: long });
      expect(presetRules[name].verify(delivery, expected(secrets, 0))).not.toBeNull();
    }
  });
});
