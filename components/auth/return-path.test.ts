import { describe, expect, it } from 'vitest';
import { returnPath } from './return-path.ts';

describe('returnPath', () => {
  it.each([
    ['/runs?status=failed', '/runs?status=failed'],
    ['/inbox/a/b#form', '/inbox/a/b#form'],
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
  ])('refuses %j', next => expect(returnPath(next)).toBe('/'));
});
