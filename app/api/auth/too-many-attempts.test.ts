import { describe, expect, it } from 'vitest';
import { tooManyAttempts } from './too-many-attempts.ts';

const url = 'http://localhost/api/auth/error?error=rate_limited';
const refused: [string, () => Response][] = [
  ['the console', () => Response.json({ url }, { status: 401, headers: { 'set-cookie': 'a=1' } })],
  ['a plain form', () => new Response(null, { status: 302, headers: { location: url, 'set-cookie': 'a=1' } })],
];

describe.each(refused)('a sign-in over the limit, sent by %s', (_, response) => {
  it('is 429 with Retry-After, the error, and the fields that next-auth’s client reads', async () => {
    const answer = await tooManyAttempts(response(), '42');
    expect(answer.status).toBe(429);
    expect(Object.fromEntries(answer.headers)).toEqual({
      'content-type': 'application/json',
      'retry-after': '42',
      'set-cookie': 'a=1',
    });
    expect(await answer.json()).toEqual({
      error: 'Too many sign-in attempts. Try again in 42 seconds.',
      code: 'rate_limited',
      url,
    });
  });
});

it('a wait of several hours is given in hours', async () => {
  const answer = await tooManyAttempts(Response.json({ url }, { status: 401 }), '40000');
  expect(answer.headers.get('retry-after')).toBe('40000');
  expect(await answer.json()).toMatchObject({ error: 'Too many sign-in attempts. Try again in 12 hours.' });
});
