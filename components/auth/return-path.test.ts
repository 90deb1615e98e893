import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { returnPath } from './return-path.ts';

describe('returnPath', () => {
  it.each([
    ['/runs?status=failed', '/runs?status=failed'],
    ['/inbox/a/b#form', '/inbox/a/b#form'],
    ['/runs?next=//elsewhere', '/runs?next=//elsewhere'],
  ])('keeps %s', (next, expected) => expect(returnPath(next)).toBe(expected));

  it.each([
    undefined,
    '',
    'runs',
    'https://evil.example/',
    '//evil.example',
    '/\\evil.example',
    '/\t/evil.example',
    'javascript:alert(1)',
    '/.//evil.example',
    '/..//evil.example',
    '/%2e//evil.example',
    '/a/..//evil.example',
    '/./\\evil.example',
    '/.\t//evil.example',
    '/.///evil.example',
    '/.//user@evil.example:80/path',
  ])('refuses %j', next => expect(returnPath(next)).toBe('/'));

  it('never leads to another site, however browsers parse the path', () => {
    const part = fc.constantFrom(
      ...['/', '\\', '.', '..', '%2e', '%2F', '%5c', '\t', '\n', '@', ':', '?', '#', 'a', 'evil.example', 'https:'],
    );
    const path = fc.oneof(
      fc.array(part, { maxLength: 10 }).map(parts => `/${parts.join('')}`),
      fc.string({ unit: 'binary' }).map(text => `/${text}`),
      fc.webUrl(),
    );
    const here = 'https://console.example';
    fc.assert(
      fc.property(path, next => {
        const target = returnPath(next);
        const parsed = new URL(target, `${here}/sign-in?next=x`);
        expect(parsed.origin).toBe(here);
        expect(target.startsWith('/')).toBe(true);
        // Parsing the checked path again does not change it.
        expect(`${parsed.pathname}${parsed.search}${parsed.hash}`).toBe(target);
      }),
      { numRuns: 3_000, seed: 20261122 },
    );
  });
});
