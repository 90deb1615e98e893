import { describe, expect, it } from 'vitest';
import { fieldsOf, fieldText, parseInput, readField } from './run-input.ts';

describe('the input form of a run', () => {
  it('has a field per key of the sample, of its kind', () => {
    const fields = fieldsOf({ who: 'ann', amount: 12.5, urgent: false, lines: [1], note: null });
    expect(fields.map(field => [field.name, field.kind])).toEqual([
      ['who', 'text'],
      ['amount', 'number'],
      ['urgent', 'boolean'],
      ['lines', 'json'],
      ['note', 'json'],
    ]);
  });

  it.each(['ann', '', 12.5, -3, true, null, [1, { a: 2 }]])('reads back %j as it was shown', value => {
    const [field] = fieldsOf({ value });
    expect(field && readField(field, fieldText(value))).toEqual({ value });
  });

  it('says what is wrong and leaves out what is empty', () => {
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
