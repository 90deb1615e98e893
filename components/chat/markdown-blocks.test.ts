import { expect, test } from 'vitest';
import { blocksOf } from './markdown-blocks.ts';

test('blank lines separate blocks', () => {
  expect(blocksOf('# One\n\nTwo\nthree\n\n\nFour\n')).toEqual(['# One', 'Two\nthree', 'Four']);
  expect(blocksOf('')).toEqual([]);
  expect(blocksOf('\n\n')).toEqual([]);
});

test('fenced code is one block, also before the fence is closed', () => {
  expect(blocksOf('Look:\n\n```ts\na\n\nb\n```\n\nDone')).toEqual(['Look:', '```ts\na\n\nb\n```', 'Done']);
  expect(blocksOf('~~~~\na\n\n~~~\n\nb')).toEqual(['~~~~\na\n\n~~~\n\nb']);
  expect(blocksOf('```\na\n\nb')).toEqual(['```\na\n\nb']);
});

test('a list is one block', () => {
  expect(blocksOf('1. a\n\n   more of a\n\n2. b\n\nafter')).toEqual(['1. a\n\n   more of a\n\n2. b', 'after']);
});

test('later text changes only the last block', () => {
  const text = 'One\n\n- two\n\n- three\n\n```\nfour\n\nfive\n```\n\nsix **seven**\n\n| a |\n|---|\n| b |';
  for (let length = 1; length < text.length; length += 1) {
    const [before, after] = [blocksOf(text.slice(0, length)), blocksOf(text)];
    expect(after.slice(0, before.length - 1)).toEqual(before.slice(0, -1));
  }
});
