import { expect, test } from 'vitest';
import { createForwardSeal, MAX_AGE_MS, type SignedRequest } from './signature.ts';

const master = Buffer.alloc(32, 7);
const by = { from: 'node-1', address: '203.0.113.7' };

function clockAt(start: number) {
  let now = start;
  return {
    clock: { now: () => now },
    wait(ms: number) {
      now += ms;
    },
  };
}

function request(
  headers: Record<string, string> = {},
  { method = 'POST', target = '/v1/workflows?a=1' }: { method?: string; target?: string } = {},
): SignedRequest {
  const all: Record<string, string> = { host: 'baton.example', authorization: 'Bearer pat_a', ...headers };
  return { method, target, header: name => all[name] };
}

const START = 1_700_000_000_000;

test('another node with the same master key reads what was sealed', () => {
  const { clock } = clockAt(START);
  const value = createForwardSeal(master, clock).seal(by, request());
  expect(value).toMatch(/^node-1, 1700000000000, 203\.0\.113\.7, [\w-]{43}$/);
  expect(createForwardSeal(master, clock).open(value, request())).toEqual(by);
  const six = { from: 'b', address: '2001:db8:0:1::/64' };
  expect(
    createForwardSeal(master, clock).open(createForwardSeal(master, clock).seal(six, request()), request()),
  ).toEqual(six);
});

test('a header fits no other request', () => {
  const seal = createForwardSeal(master, clockAt(START).clock);
  const value = seal.seal(by, request());
  const others: Record<string, SignedRequest> = {
    method: request({}, { method: 'DELETE' }),
    path: request({}, { target: '/v1/workflows/1?a=1' }),
    query: request({}, { target: '/v1/workflows?a=2' }),
    host: request({ host: 'other.example' }),
    token: request({ authorization: 'Bearer pat_b' }),
    cookie: request({ cookie: 'next-auth.session-token=x' }),
    'token of a socket': request({ 'sec-websocket-protocol': 'bearer, pat_b' }),
  };
  for (const [name, other] of Object.entries(others)) expect(seal.open(value, other), name).toBeNull();
  // A value that moves from one header to another is another credential.
  const withToken = seal.seal(by, request({ cookie: 'a' }));
  expect(seal.open(withToken, request({ 'sec-websocket-protocol': 'a' }))).toBeNull();
});

test('each part of the header is signed, with the key of this installation', () => {
  const seal = createForwardSeal(master, clockAt(START).clock);
  const value = seal.seal(by, request());
  const signature = value.slice(-43);
  const changed = [
    value.replace('node-1', 'node-2'),
    value.replace(String(START), String(START + 1)),
    value.replace('203.0.113.7', '203.0.113.8'),
    value.replace(signature, `${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`),
    value.replace(signature, 'A'.repeat(43)),
  ];
  for (const each of changed) expect(seal.open(each, request()), each).toBeNull();
  expect(createForwardSeal(Buffer.alloc(32, 8), clockAt(START).clock).open(value, request())).toBeNull();
});

test('a header is valid for thirty seconds, whether the clock is ahead or behind', () => {
  for (const [skew, holds] of [
    [MAX_AGE_MS, true],
    [-MAX_AGE_MS, true],
    [MAX_AGE_MS + 1, false],
    [-MAX_AGE_MS - 1, false],
  ] as const) {
    const time = clockAt(START);
    const seal = createForwardSeal(master, time.clock);
    const value = seal.seal(by, request());
    time.wait(skew);
    expect(seal.open(value, request()) !== null, String(skew)).toBe(holds);
  }
});

/** Returns a generator whose sequence depends only on its seed. */
function random(seed: number): (below: number) => number {
  let state = seed;
  return below => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

test('no mutation of a header is accepted, and none throws', () => {
  const seal = createForwardSeal(master, clockAt(START).clock);
  const value = seal.seal(by, request());
  const pick = random(1);
  const characters = [...'aA0_-.,:/ \t\n\0ÿ𝟘;="\\'];
  let refused = 0;
  for (let round = 0; round < 5_000; round++) {
    const letters = [...value];
    for (let change = 0; change <= pick(3); change++) {
      const place = pick(letters.length + 1);
      const letter = characters[pick(characters.length)] ?? '';
      letters.splice(place, pick(4), ...Array<string>(pick(3)).fill(letter));
    }
    const mutated = pick(20) === 0 ? letters.join('').repeat(pick(50)) : letters.join('');
    if (mutated === value) continue;
    expect(seal.open(mutated, request()), JSON.stringify(mutated)).toBeNull();
    refused += 1;
  }
  expect(refused).toBeGreaterThan(4_000);
});

test('values that JSON could confuse have different signatures', () => {
  const seal = createForwardSeal(master, clockAt(START).clock);
  const value = seal.seal({ from: 'a', address: '1.2.3.4' }, request({}, { target: '/a","/b' }));
  expect(seal.open(value, request({}, { target: '/a' }))).toBeNull();
  for (const text of ['', ',', ', , , ', `${value}, ${value}`, ` ${value}`, `${value} `, 'x'.repeat(100_000)])
    expect(seal.open(text, request())).toBeNull();
});
