import { expect, test } from 'vitest';
import { mentionText, splitMentions, withoutMentions } from './mentions.ts';

const workflow = '/workflows/0193a1c2-0000-7000-8000-000000000001';
const run = `${workflow}/runs/0193a1c2-0000-7000-8000-000000000002`;

test('a mention is read as it was written, with any name', () => {
  for (const name of ['Nightly report', 'a [b] \\c', '](/agents/x)', '**bold** `code`']) {
    const written = mentionText({ name, href: run });
    expect(splitMentions(`Look at ${written}, please`)).toEqual(['Look at ', { name, href: run }, ', please']);
  }
  expect(mentionText({ name: 'two\n lines', href: workflow })).toBe(`[two lines](${workflow})`);
});

test('only links to workflows, runs and agents are mentions', () => {
  for (const href of ['https://example.com', '//example.com', '/settings', `${workflow}/..`, 'javascript:alert(1)'])
    expect(splitMentions(`[x](${href})`)).toEqual([`[x](${href})`]);
  expect(splitMentions('')).toEqual([]);
  expect(withoutMentions(`Why did [A](${workflow}) fail in [B](${run})?`)).toBe('Why did A fail in B?');
});

test('reading takes time in proportion to the length of the text', () => {
  const text = `${'[\\'.repeat(20_000)}](/workflows/`;
  expect(splitMentions(text)).toEqual([text]);
});
