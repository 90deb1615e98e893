import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fillsTemplates } from './filled-templates.ts';

const literal = fc.stringMatching(/^[ab]{1,4}$/);
const value = fc.stringMatching(/^[abc]{0,4}$/);

test('every text that a template can become fills it', () => {
  const parts = fc.array(fc.tuple(literal, value), { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(parts, literal, (pairs, end) => {
      const published = `${pairs.map(([text]) => `${text}{{input.x}}`).join('')}${end}`;
      const given = `${pairs.map(([text, filled]) => text + filled).join('')}${end}`;
      expect(fillsTemplates(published, given)).toBe(true);
    }),
  );
});

test('only these texts fill it, as an equivalent regular expression confirms', () => {
  fc.assert(
    fc.property(
      fc.array(literal, { minLength: 2, maxLength: 4 }),
      fc.stringMatching(/^[abc]{0,12}$/),
      (texts, given) => {
        const expected = new RegExp(`^${texts.join('.*')}$`).test(given);
        expect(fillsTemplates(texts.join('{{input.x}}'), given)).toBe(expected);
      },
    ),
  );
});

test('in time that grows linearly with the size, for any repetition', () => {
  const published = `{{input.a}}b${'a'.repeat(120_000)}{{input.b}}`;
  const began = process.cpuUsage();
  expect(fillsTemplates(published, 'a'.repeat(1_000_000))).toBe(false);
  // CPU time, because a busy machine takes longer.
  expect(process.cpuUsage(began).user).toBeLessThan(1_000_000);
});

test.each([
  ['a result of a step', '{{steps.a.result}}', 'x'],
  ['a result among others', '{{input.x}} {{steps.a.result}}', 'x y'],
  ['a result behind ??', '{{input.x ?? steps.a.result}}', 'x'],
  ['a value with a template as a key', '{{input.x}}', { '{{steps.a.result}}': 1 }],
  ['a key with a template', { '{{input.x}}': 1 }, { x: 1 }],
  ['nothing that is published', undefined, 'x'],
  ['a key of the prototype', { a: '{{input.x}}' }, { constructor: 1 }],
])('%s is not filled', (_what, published, given) => {
  expect(fillsTemplates(published, given)).toBe(false);
});
