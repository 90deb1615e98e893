import { expect, test } from 'vitest';
import { separateUnseen } from './unseen.ts';

const notification = (run_id: string, task_id: string | null = null) => ({ run_id, task_id });

test('notifications that exist at the first visit of a browser count as seen', () => {
  expect(separateUnseen([notification('b'), notification('a', 'ask')], null)).toEqual({
    unseen: [],
    seen: ['b/', 'a/ask'],
  });
});

test('a notification is unseen exactly once, in any order of arrival', () => {
  const first = separateUnseen([notification('c'), notification('a')], ['a/']);
  expect(first).toEqual({ unseen: [notification('c')], seen: ['c/', 'a/'] });
  const second = separateUnseen([notification('c'), notification('b'), notification('a')], first.seen);
  expect(second.unseen).toEqual([notification('b')]);
  expect(separateUnseen([notification('c'), notification('b')], second.seen).unseen).toEqual([]);
});

test('tasks of one run are different notifications', () => {
  expect(separateUnseen([notification('a', 'first'), notification('a')], ['a/first']).unseen).toEqual([
    notification('a'),
  ]);
});

test('a browser remembers a limited number of notifications, newest first', () => {
  const seen = Array.from({ length: 100 }, (_, index) => `${index}/`);
  const { seen: kept } = separateUnseen([notification('new')], seen);
  expect(kept).toHaveLength(100);
  expect(kept.slice(0, 2)).toEqual(['new/', '0/']);
});
