import { expect, test } from 'vitest';
import { counted, mayWrite, whyRanked } from './words.ts';

test('the reasons for a hit are ordered by rank', () => {
  expect(whyRanked({ recency: 11, text: 1, vector: 3, trigram: 22 })).toBe(
    '1st by words, 3rd by meaning, 11th by recency, 22nd by spelling',
  );
  expect(whyRanked(undefined)).toBe('');
});

test('members may write private memories, contributors also those of the project, and admins also those of the workspace', () => {
  const viewer = { canWrite: false, isAdmin: false };
  const contributor = { canWrite: true, isAdmin: false };
  const admin = { canWrite: true, isAdmin: true };
  const may = (member: typeof viewer) =>
    (['private', 'project', 'workspace'] as const).filter(visibility => mayWrite(visibility, member));
  expect(may(viewer)).toEqual(['private']);
  expect(may(contributor)).toEqual(['private', 'project']);
  expect(may(admin)).toEqual(['private', 'project', 'workspace']);
});

test('a number agrees with its noun', () => {
  expect([0, 1, 1200].map(count => counted(count, 'item'))).toEqual(['0 items', '1 item', '1,200 items']);
});
