import { expect, test } from 'vitest';
import { branchTo, leafBelow, type Message, textOf } from './branches.ts';

const message = (id: string, role: Message['role'], parent_id: string | null): Message => ({
  id,
  role,
  parts: [{ type: 'text', text: id }],
  metadata: {
    parent_id,
    status: role === 'user' ? 'sent' : 'completed',
    run_id: null,
    error: null,
    usage: null,
    sent_by: 'ann@example.com',
    created_at: '2026-01-01T00:00:00.000Z',
  },
});
/** A question with two answers. A second question follows the first answer and was edited. */
const messages = [
  message('q1', 'user', null),
  message('a1', 'assistant', 'q1'),
  message('a2', 'assistant', 'q1'),
  message('q2', 'user', 'a1'),
  message('b1', 'assistant', 'q2'),
  message('q3', 'user', 'a1'),
];

test('a branch ends with its head, and each message has its siblings', () => {
  const branch = branchTo(messages, 'b1').map(({ message, siblings, index }) => [
    message.id,
    siblings.map(({ id }) => id),
    index,
  ]);
  expect(branch).toEqual([
    ['q1', ['q1'], 0],
    ['a1', ['a1', 'a2'], 0],
    ['q2', ['q2', 'q3'], 0],
    ['b1', ['b1'], 0],
  ]);
  expect(branchTo(messages, 'a2').map(({ message }) => message.id)).toEqual(['q1', 'a2']);
});

test('an unknown head, no head and a cycle are handled', () => {
  expect(branchTo(messages, null)).toEqual([]);
  expect(branchTo(messages, 'gone')).toEqual([]);
  const circle = [message('x', 'user', 'y'), message('y', 'assistant', 'x')];
  expect(branchTo(circle, 'x').map(({ message }) => message.id)).toEqual(['y', 'x']);
  expect(['x', 'y']).toContain(leafBelow(circle, 'x'));
});

test('switching to another branch shows its newest messages', () => {
  expect(leafBelow(messages, 'q1')).toBe('a2');
  expect(leafBelow(messages, 'a1')).toBe('q3');
  expect(leafBelow(messages, 'q2')).toBe('b1');
});

test('only text parts are copied', () => {
  const parts: Message['parts'] = [
    { type: 'step-start' },
    { type: 'reasoning', text: 'Hm.' },
    { type: 'text', text: 'One' },
    { type: 'text', text: 'Two' },
  ];
  expect(textOf({ parts })).toBe('One\n\nTwo');
});
