import { describe, expect, test } from 'vitest';
import { credentialHeaders } from './credential-headers.ts';

describe('the headers of a connection', () => {
  test.each([
    ['none', { token: 'a' }, {}],
    ['token', { token: 'a', api_key: 'b' }, { Authorization: 'Bearer a' }],
    ['token', { api_key: 'b', access_token: 'c' }, { Authorization: 'Bearer b' }],
    ['token', { access_token: 'c' }, { Authorization: 'Bearer c' }],
    ['oauth', { access_token: 'c', token: 'a' }, { Authorization: 'Bearer c' }],
    ['header', { 'X-Api-Key': 'k', Authorization: 'Basic eDp5' }, { 'X-Api-Key': 'k', Authorization: 'Basic eDp5' }],
  ] as const)('%s with %j', (mode, values, headers) => {
    expect(credentialHeaders(mode, values)).toEqual({ headers });
  });

  test.each([
    ['token', {}, 'no credential named'],
    ['token', { token: '' }, 'no credential named'],
    ['oauth', { token: 'a' }, 'no credential named'],
    ['header', {}, 'no credentials'],
    ['token', { token: 'a\r\nHost: evil' }, 'cannot carry'],
    ['header', { 'X-Key': 'sécret' }, 'cannot carry'],
    ['header', { 'X Key': 'a' }, 'no header that may be set'],
    ['header', { Host: 'evil.example' }, 'no header that may be set'],
    ['header', { 'Mcp-Session-Id': 'a' }, 'no header that may be set'],
    ['header', { 'Content-Length': '0' }, 'no header that may be set'],
  ] as const)('%s does not take %j, and says why without the value', (mode, values, why) => {
    const answer = credentialHeaders(mode, values);
    expect(answer).toEqual({ problem: expect.stringContaining(why) });
    for (const value of Object.values(values)) {
      if (value.length > 1) expect(JSON.stringify(answer)).not.toContain(value.slice(0, 8));
    }
  });
});
