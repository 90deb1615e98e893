import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import ReactMarkdown from 'react-markdown';
import remarkGfm from 'remark-gfm';
import { expect, test } from 'vitest';
import { isPlain } from './lazy-markdown.tsx';

const plain = [
  'Approves a claim above 500.',
  'A person decides: yes, no, or later. Then the claim is paid (by hand)!',
  'Prüft die Rechnung – 100 % sicher.',
  'Wait... what?',
];

test.each(plain)('%j is rendered the same with and without Markdown', text => {
  const html = renderToStaticMarkup(createElement(ReactMarkdown, { remarkPlugins: [remarkGfm] }, text));
  expect([isPlain(text), html]).toEqual([true, renderToStaticMarkup(createElement('p', null, text))]);
});

const marked = [
  'Approves a *claim*.',
  '- one',
  '1. one',
  'See www.example.com.',
  'See https://example.com.',
  'Ask ada@example.com.',
  'One\n\nTwo',
  'A &amp; B',
  'a | b',
  'Takes `input`.',
  '',
];

test.each(marked)('%j needs Markdown', text => expect(isPlain(text)).toBe(false));
