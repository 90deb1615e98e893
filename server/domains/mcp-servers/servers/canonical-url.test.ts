import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { AppError } from '../../../platform/errors.ts';
import { parseCanonicalUrl } from './canonical-url.ts';

const refusal = (text: string): string => {
  try {
    parseCanonicalUrl(text);
  } catch (error) {
    if (error instanceof AppError) return `${error.status} ${error.code} ${error.details?.[0]?.message}`;
    throw error;
  }
  return 'accepted';
};

describe('an address', () => {
  test.each([
    ['https://mcp.example.com/mcp', 'https://mcp.example.com/mcp'],
    ['HTTPS://MCP.Example.com:443/mcp?team=a', 'https://mcp.example.com/mcp?team=a'],
    ['  http://mcp.example.com ', 'http://mcp.example.com/'],
    ['https://bücher.example/mcp', 'https://xn--bcher-kva.example/mcp'],
    ['https://mcp.example.com/a/../b', 'https://mcp.example.com/b'],
  ])('%s is written %s', (text, written) => {
    expect(parseCanonicalUrl(text)).toBe(written);
  });

  test.each([
    ['mcp.example.com', 'must be an absolute URL'],
    ['/mcp', 'must be an absolute URL'],
    ['https://', 'must be an absolute URL'],
    ['ftp://mcp.example.com', 'must start with https:// or http://'],
    ['file:///etc/passwd', 'must start with https:// or http://'],
    ['javascript:alert(1)', 'must start with https:// or http://'],
    ['https://user:secret@mcp.example.com/', 'must not contain a user name or password; use a connection'],
    ['https://token@mcp.example.com/', 'must not contain a user name or password; use a connection'],
    ['https://mcp.example.com/#x', 'must not have a fragment (#…)'],
    [`https://mcp.example.com/${'é'.repeat(700)}`, 'must be at most 2000 characters'],
  ])('%s is refused', (text, message) => {
    expect(refusal(text)).toBe(`422 invalid_url ${message}`);
  });

  it('is never echoed when it holds a password', () => {
    expect(refusal('https://u:hunter2@mcp.example.com')).not.toContain('hunter2');
  });

  it('is either refused, or http(s) without credentials and fragment, and unchanged when parsed again', () => {
    const anyText = fc.oneof(
      fc.webUrl({ withFragments: true, withQueryParameters: true }),
      fc.string(),
      fc.webAuthority().map(a => `http://${a}`),
    );
    fc.assert(
      fc.property(anyText, text => {
        if (refusal(text) !== 'accepted') return;
        const written = parseCanonicalUrl(text);
        const url = new URL(written);
        expect(['http:', 'https:']).toContain(url.protocol);
        expect(url.username + url.password + url.hash).toBe('');
        expect(parseCanonicalUrl(written)).toBe(written);
      }),
    );
  });
});
