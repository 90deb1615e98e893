import { describe, expect, test } from 'vitest';
import { isPlainName, suggestionsFor, typingAt } from './complete-path.ts';
import type { CompletionData } from './example-values.ts';
import type { CodeLanguage } from './languages.ts';

const data: CompletionData = {
  input: { customer: { name: 'Ada' }, items: [{ price: 1 }], currency: 'EUR' },
  steps: [
    { id: 'total', name: 'Add up', result: { sum: 3, 'odd name': null } },
    { id: 'ask-first', name: 'human_task', result: { approved: true } },
  ],
  loop: null,
};

/** Returns the labels of the suggestions after a text; null if there are none. */
function labelsAfter(text: string, language: CodeLanguage, loop: CompletionData['loop'] = null) {
  const typing = typingAt(text, language);
  const found = typing && suggestionsFor(typing, language, { ...data, loop });
  return found ? found.options.map(({ label }) => label) : null;
}

describe('completion in Lua and CEL', () => {
  test('follows a path into the input and the results', () => {
    expect(labelsAfter('return input.', 'lua')).toEqual(['customer', 'items', 'currency']);
    expect(labelsAfter('return input.cu', 'lua')).toEqual(['customer', 'currency']);
    expect(labelsAfter('input.customer.', 'cel')).toEqual(['name']);
    expect(labelsAfter('local a = steps.', 'lua')).toEqual(['total', 'ask-first']);
    expect(labelsAfter('steps.total.', 'cel')).toEqual(['result', 'error']);
    expect(labelsAfter('steps.total.result.', 'cel')).toEqual(['sum', 'odd name']);
    expect(labelsAfter('steps["ask-first"].result.', 'lua')).toEqual(['approved']);
    expect(labelsAfter('steps.total.error.', 'cel')).toEqual(['code', 'message']);
  });

  test('treats any entry of a list like the first entry', () => {
    expect(labelsAfter('return input.items[1].', 'lua')).toEqual(['price']);
    expect(labelsAfter('input.items[0].', 'cel')).toEqual(['price']);
    expect(labelsAfter('input.items.', 'cel')).toBeNull();
  });

  test('suggests names of the language after their first letter', () => {
    expect(labelsAfter('return in', 'lua')).toEqual(['input']);
    expect(labelsAfter('return st', 'lua')).toEqual(['steps', 'string']);
    expect(labelsAfter('ha', 'cel')).toEqual(['has']);
    expect(labelsAfter('return ', 'lua')).toBeNull();
  });

  test('offers nothing for other paths, numbers, unknown names and complete names', () => {
    for (const text of [
      'other.input.',
      'x.in',
      '1.',
      'input.nothing.',
      'steps.gone.result.',
      'input.currency',
      'input',
    ])
      expect(labelsAfter(text, 'lua'), text).toBeNull();
    for (const text of ['return {accepted = true}', 'return {amount = input.amount or 250}'])
      expect(labelsAfter(text, 'lua'), text).toBeNull();
    expect(labelsAfter('steps.order.result.amount > 100', 'cel')).toBeNull();
  });
});

describe('completion in text and JSON', () => {
  test('is offered only within a template', () => {
    expect(labelsAfter('Dear input.', 'text')).toBeNull();
    expect(labelsAfter('Dear {{', 'text')).toEqual(['input', 'steps']);
    expect(labelsAfter('Dear {{ in', 'text')).toEqual(['input']);
    expect(labelsAfter('Dear {{input.customer.', 'text')).toEqual(['name']);
    expect(labelsAfter('{"to": "{{steps.ask-first.result.', 'json')).toEqual(['approved']);
    expect(labelsAfter('{{input.customer}} and input.', 'text')).toBeNull();
  });

  test('is offered for every path of a template, but not in its literals', () => {
    expect(labelsAfter('{{input.customer ?? ', 'text')).toEqual(['input', 'steps']);
    expect(labelsAfter('{{input.customer ?? in', 'text')).toEqual(['input']);
    expect(labelsAfter('{{input.x??steps.ask-first.result ?? steps.total.result.', 'json')).toEqual([
      'sum',
      'odd name',
    ]);
    for (const literal of ['"in', '"a input.', '"a" ', '1', '\\"see input.'])
      expect(labelsAfter(`{{input.customer ?? ${literal}`, 'text'), literal).toBeNull();
    for (const braces of ["{{ '{{", "{{ '{{in", "{{ 'input."]) expect(labelsAfter(braces, 'text'), braces).toBeNull();
    expect(labelsAfter("{{ '{{' }} {{in", 'text')).toEqual(['input']);
  });

  test('replaces the partly typed name', () => {
    expect(typingAt('Dear {{input.cu', 'text')).toEqual({ from: 13, path: ['input'], name: 'cu' });
  });

  test('distinguishes names that need brackets', () => {
    expect(isPlainName('ask-first', 'text')).toBe(true);
    expect(isPlainName('ask-first', 'lua')).toBe(false);
    expect(isPlainName('odd name', 'text')).toBe(false);
  });
});

describe('completion in the steps of a loop', () => {
  const loop = { item: { sku: 'a', price: 1 } };

  test('offers the item and its fields, in every language', () => {
    expect(labelsAfter('{{', 'text', loop)).toEqual(['item', 'index', 'input', 'steps']);
    expect(labelsAfter('return it', 'lua', loop)).toEqual(['item']);
    expect(labelsAfter('ind', 'cel', loop)).toEqual(['index']);
    expect(labelsAfter('{{item.', 'json', loop)).toEqual(['sku', 'price']);
    expect(labelsAfter('return item.p', 'lua', loop)).toEqual(['price']);
    expect(labelsAfter('item.', 'cel', { item: null })).toBeNull();
  });

  test('is not offered outside of a loop', () => {
    expect(labelsAfter('return it', 'lua')).toBeNull();
    expect(labelsAfter('{{item.', 'text')).toBeNull();
    expect(labelsAfter('{{i', 'text')).toEqual(['input']);
  });
});
