import { expect, test } from 'vitest';
import { withDefaults } from './use-input-schema.ts';

const schema = {
  properties: {
    currency: { type: 'string', default: 'EUR' },
    note: { type: 'string' },
    address: { type: 'object', properties: { country: { type: 'string', default: 'DE' } } },
  },
};
const withDefaultsOf = (text: string): unknown => JSON.parse(withDefaults(text, schema));

test('missing fields get their defaults', () => {
  expect(withDefaultsOf('')).toEqual({ currency: 'EUR', address: { country: 'DE' } });
  expect(withDefaultsOf('{"currency": "USD", "other": 1}')).toEqual({
    currency: 'USD',
    address: { country: 'DE' },
    other: 1,
  });
  expect(withDefaultsOf('{"currency": null}')).toMatchObject({ currency: null });
});

test('unfinished JSON is not changed', () => {
  expect(withDefaults('{"currency": ', schema)).toBe('{"currency": ');
  expect(withDefaults('[1]', schema)).toBe('[1]');
});
