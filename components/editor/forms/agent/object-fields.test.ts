import { expect, test } from 'vitest';
import type { Json } from '../../../../server/domains/workflows/edits/index.ts';
import { hasOnly, readMemory, withField, withScope } from './object-fields.ts';

test('a field of an object keeps its position when it is set, and an empty object is removed', () => {
  expect(withField(undefined, 'max_turns', 3)).toEqual({ max_turns: 3 });
  expect(JSON.stringify(withField({ a: 1, b: 2 }, 'a', 5))).toBe('{"a":5,"b":2}');
  expect(withField({ a: 1, b: 2 }, 'a', undefined)).toEqual({ b: 2 });
  expect(withField({ a: 1 }, 'a', undefined)).toBeUndefined();
  expect(withField('text', 'a', 1)).toEqual({ a: 1 });
});

test('hasOnly returns whether a value is an object without other fields', () => {
  const fitting: (Json | undefined)[] = [undefined, {}, { a: 1 }];
  expect(fitting.map(value => hasOnly(value, ['a']))).toEqual([true, true, true]);
  expect([[1], null, 'a', { b: 1 }].map(value => hasOnly(value, ['a']))).toEqual([false, false, false, false]);
});

test('an agent’s memory settings are read, unless the form cannot show them', () => {
  expect(readMemory(undefined)).toEqual({ read: [] });
  expect(readMemory({ read: ['project'], write: 'auto' })).toEqual({ read: ['project'], write: 'auto' });
  const others: Json[] = [null, [], { read: 'project' }, { read: ['other'] }, { write: 'off' }, { read: [], more: 1 }];
  expect(others.map(value => readMemory(value))).toEqual(others.map(() => null));
});

test('scopes are in the declared order, and without scopes nothing is stored', () => {
  const memory = { read: ['workspace'], write: 'off' } as const;
  expect(withScope(memory, 'private', true)).toEqual({ read: ['private', 'workspace'], write: 'off' });
  expect(withScope(memory, 'workspace', false)).toBeUndefined();
});
