import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readTarget } from './request.ts';

describe('the target of a request', () => {
  test('is read as a WHATWG parser reads it, plain or not', () => {
    const piece = fc.constantFrom(
      '/',
      '/',
      '.',
      '..',
      '%2e',
      '%2F',
      '\\',
      '?',
      '#',
      ';',
      ':',
      '@',
      'v1',
      'a-b_c~',
      'É',
      ' ',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), pieces => {
        const target = `/${pieces.join('')}`;
        fc.pre(URL.canParse(target, 'http://localhost'));
        const { pathname, search } = new URL(target, 'http://localhost');
        expect(readTarget(target)).toEqual({ pathname, search });
      }),
      { numRuns: 2000 },
    );
  });

  test('that cannot be parsed becomes the root, which has no route', () => {
    expect(readTarget('//')).toEqual({ pathname: '/', search: '' });
    expect(readTarget('http://[')).toEqual({ pathname: '/', search: '' });
  });
});
