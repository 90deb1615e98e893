import { expect, test } from 'vitest';
import type { Message } from '../../chat/branches.ts';
import type { ProposalHead } from './proposal.ts';
import { restorePoints } from './restore-points.ts';

const message = (id: string, role: Message['role'], parent_id: string | null): Message => ({
  id,
  role,
  parts: [],
  metadata: {
    parent_id,
    status: 'sent',
    run_id: null,
    error: null,
    usage: null,
    sent_by: 'a@example.com',
    created_at: '',
  },
});
const messages = [
  message('q1', 'user', null),
  message('a1', 'assistant', 'q1'),
  message('q2', 'user', 'a1'),
  message('a2', 'assistant', 'q2'),
  message('q3', 'user', 'a2'),
  message('a3', 'assistant', 'q3'),
];
const proposal = (id: string, message_id: string, minute: number, status: ProposalHead['status'] = 'applied') =>
  ({ id, message_id, status, applied_at: `2026-01-01T00:0${minute}:00Z` }) as ProposalHead;

test('restoring to before a message undoes the proposals of its answer and of later ones, the last applied first', () => {
  const proposals = [
    proposal('second', 'a2', 1),
    proposal('first', 'a1', 2),
    proposal('third', 'a3', 3, 'undone'),
    proposal('elsewhere', 'gone', 4),
  ];
  const points = restorePoints(messages, proposals).map(({ message: { id }, undo }) => [id, undo.map(each => each.id)]);
  expect(points).toEqual([
    ['q2', ['second']],
    ['q1', ['first', 'second']],
  ]);
  expect(restorePoints(messages, [])).toEqual([]);
});
