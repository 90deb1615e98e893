import fc from 'fast-check';
import { RE2JS } from 're2js';
import { expect, test } from 'vitest';
import { compilePattern, MAX_PATTERN_CHARACTERS, MAX_PATTERN_SIZE, patternSize } from './pattern.ts';

const piece: fc.Arbitrary<string> = fc.letrec<{ all: string }>(tie => ({
  all: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom(
      'a',
      '.',
      '\\d',
      '\\p{L}',
      '[a-z]',
      '[]a]',
      '[^\\]\\pL]',
      '[[:alpha:]x]',
      '\\Qa{9}\\E',
      '\\x{41}',
      '^',
      '{',
    ),
    fc.tuple(tie('all'), tie('all')).map(parts => parts.join('')),
    fc.tuple(tie('all'), tie('all')).map(parts => `(?:${parts.join('|')})`),
    tie('all').map(inner => `(?P<name>${inner})`),
    tie('all').map(inner => `(?i)${inner}`),
    fc
      .tuple(tie('all'), fc.constantFrom('*', '+?', '?', '{3}', '{0,4}', '{2,}', '{0}'))
      .map(([inner, count]) => `(${inner})${count}`),
  ),
})).all;

test('the size of a pattern is known without compiling it, and is never less than that of its program', () => {
  let compiled = 0;
  fc.assert(
    fc.property(piece, source => {
      let program: RE2JS;
      try {
        program = RE2JS.compile(source);
      } catch {
        return;
      }
      compiled++;
      expect(patternSize(source)).toBeGreaterThanOrEqual(program.programSize());
    }),
    { numRuns: 2_000 },
  );
  expect(compiled).toBeGreaterThan(500);
});

test.each([
  ['a{2000}', false],
  ['(?:.?){1000}'.repeat(80), false],
  ['((a{10}){10}){10}', true],
  ['^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$', true],
  ['^.{1,1000}$', true],
  ['^\\p{L}{1,500}$', true],
  ['a'.repeat(MAX_PATTERN_CHARACTERS), true],
  ['a'.repeat(MAX_PATTERN_CHARACTERS + 1), false],
  ['(?<=a)b', false],
])('%s can be used: %s', (source, isUsable) => {
  expect(compilePattern(source) !== undefined).toBe(isUsable);
});

test('the limit holds at, below and above', () => {
  const ofSize = (size: number) => `${'a{499}'.repeat(6)}${'b'.repeat(size - patternSize('a{499}'.repeat(6)))}`;
  for (const size of [MAX_PATTERN_SIZE - 1, MAX_PATTERN_SIZE, MAX_PATTERN_SIZE + 1]) {
    expect(patternSize(ofSize(size))).toBe(size);
    expect(compilePattern(ofSize(size)) !== undefined).toBe(size <= MAX_PATTERN_SIZE);
  }
});
