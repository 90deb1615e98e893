import { describe, expect, test } from 'vitest';
import { refuseCrossSite, refuseForeign, refuseForeignSocket } from './same-origin.ts';

const url = 'https://baton.example.com';
const sent = (headers: Record<string, string>) => (name: string) => ({ host: '127.0.0.1:3000', ...headers })[name];
const admits = (check: typeof refuseCrossSite, headers: Record<string, string>) => {
  try {
    check(sent(headers), url);
    return true;
  } catch (error) {
    expect(error).toMatchObject({ status: 403, code: 'cross_site' });
    return false;
  }
};
const own = { 'sec-fetch-site': 'same-origin' };
const foreign = { origin: 'https://evil.example' };

/** The booleans say whether a change, a WebSocket and a form of next-auth are admitted. */
describe.each<[string, Record<string, string>, boolean, boolean, boolean]>([
  ['both say so', { ...own, origin: url }, true, true, true],
  ['both say so, by the requested host', { ...own, origin: 'http://127.0.0.1:3000' }, true, true, true],
  ['Sec-Fetch-Site alone says so', own, true, false, true],
  ['a person typed the address', { 'sec-fetch-site': 'none' }, true, false, true],
  ['Origin alone says so', { origin: url }, true, true, true],
  ['Sec-Fetch-Site says so, and Origin is another site', { ...own, ...foreign }, false, false, false],
  ['Sec-Fetch-Site says so, and Origin is opaque', { ...own, origin: 'null' }, false, false, false],
  ['Sec-Fetch-Site says so, and Origin is no URL', { ...own, origin: 'x' }, false, false, false],
  ['Sec-Fetch-Site says so, and Origin is another port', { ...own, origin: `${url}:444` }, false, false, false],
  ['Sec-Fetch-Site says so, and Origin is http', { ...own, origin: url.replace('https', 'http') }, false, false, false],
  [
    'Origin says so, and Sec-Fetch-Site another site',
    { 'sec-fetch-site': 'cross-site', origin: url },
    false,
    false,
    false,
  ],
  [
    'Origin says so, and Sec-Fetch-Site a neighbor',
    { 'sec-fetch-site': 'same-site', origin: url },
    false,
    false,
    false,
  ],
  [
    'Origin says so, and Sec-Fetch-Site is unknown',
    { 'sec-fetch-site': 'Same-Origin, x', origin: url },
    false,
    false,
    false,
  ],
  ['neither is there', {}, false, false, true],
])('where %s', (_, headers, change, socket, form) => {
  test('it is admitted or refused', () => {
    expect([
      admits(refuseCrossSite, headers),
      admits(refuseForeignSocket, headers),
      admits(refuseForeign, headers),
    ]).toEqual([change, socket, form]);
  });
});
