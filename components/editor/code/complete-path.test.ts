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

/** Returns the labels offered after a text; null if there are none. */
function offered(text: string, language: CodeLanguage, loop: CompletionData['loop'] = null) {
  const typing = typingAt(text, language);
  const found = typing && suggestionsFor(typing, language, { ...data, loop });
  return found ? found.options.map(({ label }) => label) : null;
}

describe('completion in Lua and CEL', () => {
  test('follows a path into the input and the results', () => {
    expect(offered('return input.', 'lua')).toEqual(['customer', 'items', 'currency']);
    expect(offered('return input.cu', 'lua')).toEqual(['customer', 'currency']);
    expect(offered('input.customer.', 'cel')).toEqual(['name']);
    expect(offered('local a = steps.', 'lua')).toEqual(['total', 'ask-first']);
    expect(offered('steps.total.', 'cel')).toEqual(['result', 'error']);
    expect(offered('steps.total.result.', 'cel')).toEqual(['sum', 'odd name']);
    expect(offered('steps["ask-first"].result.', 'lua')).toEqual(['approved']);
    expect(offered('steps.total.error.', 'cel')).toEqual(['code', 'message']);
  });

  test('reads any entry of a list as the first entry', () => {
    expect(offered('return input.items[1].', 'lua')).toEqual(['price']);
    expect(offered('input.items[0].', 'cel')).toEqual(['price']);
    expect(offered('input.items.', 'cel')).toBeNull();
  });

  test('offers names of the language after their first letter', () => {
    expect(offered('return in', 'lua')).toEqual(['input']);
    expect(offered('return st', 'lua')).toEqual(['steps', 'string']);
    expect(offered('ha', 'cel')).toEqual(['has']);
    expect(offered('return ', 'lua')).toBeNull();
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
      expect(offered(text, 'lua'), text).toBeNull();
    for (const text of ['return {accepted = true}', 'return {amount = input.amount or 250}'])
      expect(offered(text, 'lua'), text).toBeNull();
    expect(offered('steps.order.result.amount > 100', 'cel')).toBeNull();
  });
});

describe('completion in text and JSON', () => {
  test('is offered only within a template', () => {
    expect(offered('Dear input.', 'text')).toBeNull();
    expect(offered('Dear {{', 'text')).toEqual(['input', 'steps']);
    expect(offered('Dear {{ in', 'text')).toEqual(['input']);
    expect(offered('Dear {{input.customer.', 'text')).toEqual(['name']);
    expect(offered('{"to": "{{steps.ask-first.result.', 'json')).toEqual(['approved']);
    expect(offered('{{input.customer}} and input.', 'text')).toBeNull();
  });

  test('is offered for every path of a template, but not in its literals', () => {
    expect(offered('{{input.customer ?? ', 'text')).toEqual(['input', 'steps']);
    expect(offered('{{input.customer ?? in', 'text')).toEqual(['input']);
    expect(offered('{{input.x??steps.ask-first.result ?? steps.total.result.', 'json')).toEqual(['sum', 'odd name']);
    for (const literal of ['"in', '"a input.', '"a" ', '1', '\\"see input.'])
      expect(offered(`{{input.customer ?? ${literal}`, 'text'), literal).toBeNull();
    for (const braces of ["{{ '{{", "{{ '{{in", "{{ 'input."]) expect(offered(braces, 'text'), braces).toBeNull();
    expect(offered("{{ '{{' }} {{in", 'text')).toEqual(['input']);
  });

  test('replaces the partly typed name', () => {
    expect(typingAt('Dear {{input.cu', 'text')).toEqual({ from: 13, path: ['input'], name: 'cu' });
  });

  test('knows which names need brackets', () => {
    expect(isPlainName('ask-first', 'text')).toBe(true);
    expect(isPlainName('ask-first', 'lua')).toBe(false);
    expect(isPlainName('odd name', 'text')).toBe(false);
  });
});

describe('completion in the steps of a loop', () => {
  const loop = { item: { sku: 'a', price: 1 } };

  test('offers the item and its fields, in every language', () => {
    expect(offered('{{', 'text', loop)).toEqual(['item', 'index', 'input', 'steps']);
    expect(offered('return it', 'lua', loop)).toEqual(['item']);
    expect(offered('ind', 'cel', loop)).toEqual(['index']);
    expect(offered('{{item.', 'json', loop)).toEqual(['sku', 'price']);
    expect(offered('return item.p', 'lua', loop)).toEqual(['price']);
    expect(offered('item.', 'cel', { item: null })).toBeNull();
  });

  test('is not offered outside of a loop', () => {
    expect(offered('return it', 'lua')).toBeNull();
    expect(offered('{{item.', 'text')).toBeNull();
    expect(offered('{{i', 'text')).toEqual(['input']);
  });
});
