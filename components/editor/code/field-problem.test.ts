import { expect, test } from 'vitest';
import { placeProblem } from './field-problem.ts';

const script = 'local a = 1\n  x = = 2\nreturn a';

test('a Lua message contains a line number', () => {
  const placed = placeProblem(script, "script:2: unexpected symbol near '='");
  expect(placed).toEqual({ from: 14, to: 21, line: 2, message: "unexpected symbol near '='" });
  expect(script.slice(14, 21)).toBe('x = = 2');
});

test('a message about a template or an expression contains a character position', () => {
  expect(placeProblem('a\n{{oops}}', 'input or steps expected at character 5')).toEqual({
    from: 4,
    to: 5,
    line: 2,
    message: 'input or steps expected',
  });
});

test('the end of the text is a position, even in an empty text', () => {
  expect(placeProblem('1 +', 'Unexpected token at character 4')).toMatchObject({ from: 2, to: 3 });
  expect(placeProblem('', 'Unexpected token at character 1')).toMatchObject({ from: 0, to: 0 });
});

test('returns null for a message without a position, or about an earlier text', () => {
  expect(placeProblem(script, 'is required')).toBeNull();
  expect(placeProblem(script, 'script:9: unexpected symbol')).toBeNull();
  expect(placeProblem('ab', 'Unexpected token at character 9')).toBeNull();
});
