import { afterAll, beforeAll, expect, test } from 'vitest';
import type { z } from 'zod';
import type { Principal } from '../../../operation/context.ts';
import { DAY_MS, ManualClock } from '../../../platform/clock.ts';
import { createTestMember } from '../../../testing/identity.ts';
import { createTestMemory, programOf, type TestMemory } from '../../../testing/memory.ts';
import type { HealthOutput } from '../schemas.ts';

const clock = new ManualClock(Date.parse('2026-03-09T14:00:00Z'));
let memory: TestMemory;
let ada: Principal;
let bob: Principal;
beforeAll(async () => {
  memory = await createTestMemory({ clock });
  ada = await createTestMember(memory.services, memory.tenant, 'project_contributor', 'ada@example.com');
  bob = await createTestMember(memory.services, memory.tenant, 'project_contributor', 'bob@example.com');
});
afterAll(() => memory.close());

const health = async (by: Principal) => (await memory.call(by, 'memory_health', {})) as z.output<typeof HealthOutput>;

test('an empty memory has no findings', async () => {
  expect(await health(ada)).toEqual({
    items: { proposed: 0, active: 0, rejected: 0, superseded: 0 },
    episodes: 0,
    never_used: 0,
    duplicates: [],
    contradictions: [],
  });
});

test('similar items of one subject are shown to readers who see both', async () => {
  const first = await memory.remember(ada, 'office', 'The office is in Lisbon, near the river.');
  const second = await memory.remember(ada, 'Office', 'The office is in Lisbon near the river bank.');
  await memory.remember(ada, 'office', 'Coffee is on the third floor.');
  await memory.remember(ada, 'flat', 'The office is in Lisbon, near the river.');
  const { duplicates, items } = await health(ada);
  expect(items.active).toBe(4);
  expect(duplicates.map(pair => [pair.first.id, pair.second.id].sort())).toEqual([[first, second].sort()]);
  expect(await health(bob)).toMatchObject({ items: { active: 0 }, duplicates: [] });
});

test('a proposal that contradicts an active item is shown until a person decides', async () => {
  const old = await memory.remember(bob, 'car', 'The car is red.');
  const proposal = { subject: 'car', text: 'The car was painted blue.', supersedes: old };
  const { items } = (await memory.call(bob, 'memory_propose_items', { items: [proposal] })) as {
    items: { id: string }[];
  };
  const { contradictions } = await health(bob);
  expect(contradictions.map(({ first, second }) => [first.id, second.id])).toEqual([[items[0]?.id, old]]);
  await memory.call(bob, 'memory_confirm_item', { id: items[0]?.id });
  expect(await health(bob)).toMatchObject({ contradictions: [], items: { superseded: 1, active: 1, proposed: 0 } });
});

test('an item that no tool has found counts as never used after 30 days', async () => {
  const carl = await createTestMember(memory.services, memory.tenant, 'project_viewer', 'carl@example.com');
  await memory.remember(carl, 'tea', 'Likes green tea.');
  await memory.remember(carl, 'boots', 'Wears rubber boots.');
  clock.advance(30 * DAY_MS);
  expect(await health(carl)).toMatchObject({ never_used: 0 });
  clock.advance(1);
  expect(await health(carl)).toMatchObject({ never_used: 2 });
  const call = { tool: 'memory_search', arguments: { query: 'green tea' } };
  await memory.call(programOf(carl), 'memory_tools_call', call);
  expect(await health(carl)).toMatchObject({ never_used: 1 });
});
