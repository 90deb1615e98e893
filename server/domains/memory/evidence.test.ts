import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Principal } from '../../operation/context.ts';
import { createTestMember } from '../../testing/identity.ts';
import { createTestMemory, programOf, type TestMemory } from '../../testing/memory.ts';

let memory: TestMemory;
beforeAll(async () => {
  memory = await createTestMemory();
});
afterAll(() => memory.close());

let people = 0;
const somebody = (role: Principal['role'] = 'project_contributor'): Promise<Principal> => {
  people += 1;
  return createTestMember(memory.services, memory.tenant, role, `v${people}@example.com`);
};
const chunkOf = async (by: Principal, text: string) =>
  (await memory.said(by, [['user', text]], { visibility: 'project' })).chunks[0]?.id;
const resting = (chunk_id: string | undefined, quote: string, more: object = {}) => ({
  evidence: [{ chunk_id, quote }],
  ...more,
});

describe('evidence that the reader does not see is ignored', () => {
  test('a private item does not outdate the quoted chunk for others', async () => {
    const [author, viewer] = [await somebody(), await somebody('project_viewer')];
    const chunk = await chunkOf(author, 'The walrus gate opens at nine.');
    const mine = await memory.remember(viewer, 'gate', 'The gate opens at nine.', resting(chunk, 'opens at nine'));
    await memory.remember(viewer, 'gate', 'The gate is shut.', { supersedes: mine });
    expect(await memory.find(author, 'walrus')).toEqual(['The walrus gate opens at nine.']);
    // The chunk is outdated for the viewer.
    expect(await memory.find(viewer, 'walrus')).toEqual([]);
  });

  test('a private item does not make an outdated chunk current for others', async () => {
    const [author, viewer] = [await somebody(), await somebody('project_viewer')];
    const chunk = await chunkOf(author, 'The tapir door is green.');
    const shared = { visibility: 'project' };
    const old = await memory.remember(author, 'door', 'The door is green.', resting(chunk, 'is green', shared));
    await memory.remember(author, 'door', 'The door is red.', { supersedes: old, ...shared });
    await memory.remember(viewer, 'mine', 'I like the green door.', resting(chunk, 'is green'));
    expect(await memory.find(author, 'tapir')).toEqual([]);
    expect(await memory.find(viewer, 'tapir')).toEqual(['The tapir door is green.']);
  });

  test('private items of others never change the results of a search', async () => {
    const [reader, other] = [await somebody(), await somebody('project_viewer')];
    let round = 0;
    const step = fc.record({ mine: fc.boolean(), chunk: fc.nat(2), supersede: fc.boolean(), shared: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), async steps => {
        round += 1;
        const word = `okapi${round}x`;
        const texts = [0, 1, 2].map(at => `The ${word} number ${at} is here.`);
        const chunks = await Promise.all(texts.map(text => chunkOf(reader, text)));
        const states = new Map<number, { standing: number; ended: number }>();
        const last = new Map<string, string>();
        for (const [nth, { mine, chunk, supersede, shared }] of steps.entries()) {
          const by = mine ? reader : other;
          const visibility = mine && shared ? 'project' : 'private';
          const subject = `${word} ${chunk} ${visibility}`;
          const key = `${by.userId} ${subject}`;
          const old = last.get(key);
          const replaces = supersede && old !== undefined;
          const evidence = replaces ? {} : resting(chunks[chunk], `number ${chunk}`);
          const id = await memory.remember(by, subject, `Item ${nth} of ${round}.`, {
            visibility,
            ...evidence,
            ...(replaces && { supersedes: old }),
          });
          if (replaces) last.delete(key);
          else last.set(key, id);
          if (!mine) continue;
          const state = states.get(chunk) ?? { standing: 0, ended: 0 };
          states.set(chunk, {
            standing: state.standing + (replaces ? -1 : 1),
            ended: state.ended + (replaces ? 1 : 0),
          });
        }
        const isCurrent = (at: number) => {
          const { standing, ended } = states.get(at) ?? { standing: 0, ended: 0 };
          return ended === 0 || standing > 0;
        };
        const found = await memory.find(reader, word, { kinds: ['episode'], k: 50 });
        expect(found.sort()).toEqual(texts.filter((_, at) => isCurrent(at)));
      }),
      { numRuns: 20 },
    );
  });
});

test('deleting an episode deletes private items of others without counting them', async () => {
  const [author, viewer] = [await somebody(), await somebody('project_viewer')];
  const { id, chunks } = await memory.said(author, [['user', 'The lemur sleeps.']], { visibility: 'project' });
  const item = {
    subject: 'lemur',
    text: 'The lemur sleeps.',
    evidence: [{ chunk_id: chunks[0]?.id, quote: 'sleeps' }],
  };
  await memory.call(programOf(viewer), 'memory_propose_items', { items: [item], remember: true });
  expect(await memory.find(viewer, 'lemur', { kinds: ['fact'] })).toEqual(['The lemur sleeps.']);
  expect(await memory.call(author, 'memory_forget', { of: 'episode', ref: id })).toEqual({ items: 0, episodes: 1 });
  expect(await memory.find(viewer, 'lemur')).toEqual([]);
});
