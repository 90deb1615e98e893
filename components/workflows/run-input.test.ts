import { describe, expect, it } from 'vitest';
import { fieldsOf, fieldText, parseInput, readField } from './run-input.ts';

describe('the input form of a run', () => {
  it('has a field for each key of the sample', () => {
    const fields = fieldsOf({ who: 'ann', amount: 12.5, urgent: false, lines: [1], note: null });
    expect(fields.map(field => [field.name, field.kind])).toEqual([
      ['who', 'text'],
      ['amount', 'number'],
      ['urgent', 'boolean'],
      ['lines', 'json'],
      ['note', 'json'],
    ]);
  });

  it.each(['ann', '', 12.5, -3, true, null, [1, { a: 2 }]])(
    'reads the shown text of %j back as the same value',
    value => {
      const [field] = fieldsOf({ value });
      expect(field && readField(field, fieldText(value))).toEqual({ value });
    },
  );

  it('reports invalid text and leaves out empty fields', () => {
    expect(readField({ name: 'n', kind: 'number' }, 'twelve')).toEqual({ problem: 'Enter a number.' });
    expect(readField({ name: 'n', kind: 'json' }, '{')).toEqual({ problem: 'This is not JSON.' });
    expect(readField({ name: 'n', kind: 'number' }, ' ')).toEqual({ value: undefined });
  });

  it.each([
    ['', { input: {} }],
    ['{"a":1}', { input: { a: 1 } }],
    ['[1]', { problem: 'The input must be a JSON object.' }],
  ])('parses %j', (text, expected) => {
    expect(parseInput(text)).toEqual(expected);
  });
});
