import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Principal } from '../../../operation/context.ts';
import { DAY_MS, ManualClock } from '../../../platform/clock.ts';
import { createTestMember } from '../../../testing/identity.ts';
import { createTestMemory, type ItemResult, programOf, type TestMemory } from '../../../testing/memory.ts';

const clock = new ManualClock(Date.parse('2026-03-01T00:00:00Z'));
let memory: TestMemory;
beforeAll(async () => {
  memory = await createTestMemory({ clock });
});
afterAll(() => memory.close());

let people = 0;
const somebody = (role: Principal['role'] = 'project_contributor'): Promise<Principal> => {
  people += 1;
  return createTestMember(memory.services, memory.tenant, role, `t${people}@example.com`);
};
const instant = (days = 0): string => new Date(clock.now() + days * DAY_MS).toISOString();
const get = async (by: Principal, id: string) => (await memory.call(by, 'memory_items_get', { id })) as ItemResult;
const patch = (by: Principal, id: string, change: object) => memory.call(by, 'memory_items_patch', { id, ...change });
const rememberHome = (by: Principal, city: string, more: object = {}) =>
  memory.remember(by, 'home', `Lives in ${city}.`, more as Record<string, unknown>);

test('a supersession that is valid from 2030 does not hide the old item today', async () => {
  const person = await somebody();
  const old = await rememberHome(person, 'Aachen');
  await patch(person, old, { pinned: true });
  await rememberHome(person, 'Bonn', { supersedes: old, valid_from: '2030-01-01T00:00:00Z' });
  expect(await memory.find(person, 'lives')).toEqual(['Lives in Aachen.']);
  expect(await get(person, old)).toMatchObject({ status: 'superseded', valid_to: '2030-01-01T00:00:00.000Z' });
  expect(await memory.find(person, 'lives', { as_of: '2030-06-01T00:00:00Z' })).toEqual(['Lives in Bonn.']);
  // Repeating the old statement today adds evidence to the old item.
  expect(await rememberHome(person, 'Aachen')).toBe(old);
});

test('a future supersession does not hide the chunk of the old item', async () => {
  const person = await somebody();
  const { chunks } = await memory.said(person, [['user', 'I live in Aachen.']]);
  const evidence = [{ chunk_id: chunks[0]?.id, quote: 'live in Aachen' }];
  const old = await rememberHome(person, 'Aachen', { evidence });
  await rememberHome(person, 'Bonn', { supersedes: old, valid_from: instant(10) });
  expect((await memory.find(person, 'live Aachen')).sort()).toEqual(['I live in Aachen.', 'Lives in Aachen.']);
  clock.advance(11 * DAY_MS);
  expect(await memory.find(person, 'live Aachen')).toEqual(['Lives in Bonn.']);
});

test('repeating an expired item makes it valid again', async () => {
  const person = await somebody();
  const first = await rememberHome(person, 'Cork', { expires_at: instant(1) });
  clock.advance(2 * DAY_MS);
  expect(await memory.find(person, 'lives')).toEqual([]);
  expect(await rememberHome(person, 'Cork')).toBe(first);
  expect(await memory.find(person, 'lives')).toEqual(['Lives in Cork.']);
  expect(await get(person, first)).toMatchObject({ status: 'active', expires_at: null });
});

test('repeating an expired item without a request only proposes it, and a rejected item stays rejected', async () => {
  const person = await somebody();
  const { chunks } = await memory.said(person, [['user', 'I live in Derry.']]);
  const item = {
    subject: 'home',
    text: 'Lives in Derry.',
    evidence: [{ chunk_id: chunks[0]?.id, quote: 'live in Derry' }],
  };
  const id = await rememberHome(person, 'Derry', { expires_at: instant(1) });
  clock.advance(2 * DAY_MS);
  const proposeAgain = () => memory.call(programOf(person), 'memory_propose_items', { items: [item] });
  expect(await proposeAgain()).toEqual({ items: [{ id, status: 'proposed', merged: true }] });
  await patch(person, id, { status: 'rejected', expires_at: instant(1) });
  clock.advance(2 * DAY_MS);
  expect(await proposeAgain()).toEqual({ items: [{ id, status: 'rejected', merged: true }] });
});

test('all predecessors end when their successor is valid from an earlier time', async () => {
  const person = await somebody();
  const a = await rememberHome(person, 'Aachen');
  const b = await rememberHome(person, 'Bonn', { supersedes: a, valid_from: instant(100) });
  const c = await rememberHome(person, 'Cork', { supersedes: b });
  expect(await memory.find(person, 'lives')).toEqual(['Lives in Cork.']);
  await patch(person, b, { reinstate: true });
  expect(await memory.find(person, 'lives')).toEqual(['Lives in Aachen.']);
  expect([(await get(person, a)).valid_to, (await get(person, c)).status]).toEqual([instant(100), 'rejected']);
});

test('reinstating the first of three rejects the third', async () => {
  const person = await somebody();
  const [a, b, c] = await threeHomes(person);
  await patch(person, a, { reinstate: true });
  expect(await memory.find(person, 'lives')).toEqual(['Lives in Aachen.']);
  for (const id of [b, c]) expect(await get(person, id)).toMatchObject({ status: 'rejected', valid_to: null });
  // A rejected item can be put back into review.
  await patch(person, b, { status: 'proposed' });
  await memory.call(person, 'memory_confirm_item', { id: b, supersedes: a });
  expect(await memory.find(person, 'lives')).toEqual(['Lives in Bonn.']);
});

test('reinstating the first of three rejects the third if the second was deleted', async () => {
  const person = await somebody();
  const [a, b, c] = await threeHomes(person);
  await memory.call(person, 'memory_items_delete', { id: b });
  expect([(await get(person, a)).superseded_by, (await get(person, c)).supersedes]).toEqual([c, a]);
  await patch(person, a, { reinstate: true });
  expect(await memory.find(person, 'lives')).toEqual(['Lives in Aachen.']);
});

test('a machine cannot reinstate an item over one that a person wrote', async () => {
  const person = await somebody();
  const [a] = await threeHomes(person);
  await expect(patch(programOf(person), a, { reinstate: true })).rejects.toMatchObject({ code: 'person_required' });
  expect(await memory.find(person, 'lives')).toEqual(['Lives in Cork.']);
});

test('confirming an item after a review supersedes the same item again', async () => {
  const person = await somebody();
  const a = await rememberHome(person, 'Aachen');
  const b = await rememberHome(person, 'Bonn', { supersedes: a });
  await patch(person, b, { status: 'proposed' });
  await memory.call(person, 'memory_confirm_item', { id: b });
  expect(await memory.find(person, 'lives')).toEqual(['Lives in Bonn.']);
});

async function threeHomes(person: Principal): Promise<[string, string, string]> {
  const a = await rememberHome(person, 'Aachen');
  clock.advance(DAY_MS);
  const b = await rememberHome(person, 'Bonn', { supersedes: a });
  clock.advance(DAY_MS);
  return [a, b, await rememberHome(person, 'Cork', { supersedes: b })];
}

test('as_of finds only items that were known at that time', async () => {
  const person = await somebody();
  const before = instant();
  clock.advance(DAY_MS);
  const { chunks } = await memory.said(person, [['user', 'I live in Ghent.']], { occurred_at: '2020-01-01T00:00:00Z' });
  const evidence = [{ chunk_id: chunks[0]?.id, quote: 'live in Ghent' }];
  const item = { subject: 'home', text: 'Lives in Ghent.', evidence, valid_from: '2020-01-01T00:00:00Z' };
  const { items } = (await memory.call(programOf(person), 'memory_propose_items', { items: [item] })) as {
    items: { id: string }[];
  };
  const id = String(items[0]?.id);
  const said = instant();
  clock.advance(DAY_MS);
  await memory.call(person, 'memory_confirm_item', { id });
  const confirmed = instant();
  clock.advance(DAY_MS);
  // The correction of today is valid from 2021.
  await rememberHome(person, 'Bruges', { supersedes: id, valid_from: '2021-01-01T00:00:00Z' });
  const find = (as_of: string) => memory.find(person, 'live', { as_of });
  expect(await find(before)).toEqual([]);
  expect(await find(said)).toEqual(['I live in Ghent.']);
  expect((await find(confirmed)).sort()).toEqual(['I live in Ghent.', 'Lives in Ghent.']);
  expect(await find(instant())).toEqual(['Lives in Bruges.']);
  // A search as of an earlier time does not find the later wording.
  await patch(person, id, { reinstate: true });
  await patch(person, id, { text: 'Lives in Ghent, near the castle.' });
  expect(await find(confirmed)).toEqual(['I live in Ghent.']);
});

type Act =
  | { act: 'remember'; city: number; from: number; expires: number | null; over: number | null }
  | { act: 'reinstate' | 'reject' | 'review' | 'confirm' | 'forget'; nth: number }
  | { act: 'wait'; days: number };
const nth = fc.nat(5);
const acts: fc.Arbitrary<Act> = fc.oneof(
  fc.record({
    act: fc.constant('remember' as const),
    city: fc.nat(5),
    from: fc.integer({ min: -4, max: 6 }),
    expires: fc.option(fc.integer({ min: 1, max: 6 })),
    over: fc.option(nth, { freq: 3 }),
  }),
  fc.record({ act: fc.constantFrom('reinstate', 'reject', 'review', 'confirm', 'forget'), nth }),
  fc.record({ act: fc.constant('wait' as const), days: fc.integer({ min: 1, max: 5 }) }),
);

/** A point in time between the acts, with the answer of a search at that time. */
type Moment = { at: string; found: string[] };

async function perform(person: Principal, act: Act, ids: string[]): Promise<void> {
  const chosen = (at: number) => ids[at % Math.max(1, ids.length)];
  if (act.act === 'wait') return clock.advance(act.days * DAY_MS);
  if (act.act === 'remember') {
    const over = act.over === null ? undefined : chosen(act.over);
    const more = {
      valid_from: instant(act.from),
      ...(act.expires !== null && { expires_at: instant(act.expires) }),
      ...(over !== undefined && { supersedes: over }),
    };
    const id = await rememberHome(person, `City${act.city}`, more);
    if (!ids.includes(id)) ids.push(id);
    return;
  }
  const id = chosen(act.nth);
  if (id === undefined) return;
  if (act.act === 'forget') {
    await memory.call(person, 'memory_items_delete', { id });
    ids.splice(ids.indexOf(id), 1);
  } else if (act.act === 'confirm') await memory.call(person, 'memory_confirm_item', { id });
  else if (act.act === 'reinstate') await patch(person, id, { reinstate: true });
  else await patch(person, id, { status: act.act === 'reject' ? 'rejected' : 'proposed' });
}

/** Checks that at most one item of each chain is true, and that no chain is a cycle. */
async function checkChains(person: Principal): Promise<void> {
  const { items } = (await memory.call(person, 'memory_items_list', { limit: 100 })) as { items: ItemResult[] };
  const byId = new Map(items.map(item => [item.id, item]));
  const isTrue = ({ status, valid_from, valid_to, expires_at }: ItemResult) =>
    (status === 'active' || (status === 'superseded' && valid_to !== null)) &&
    valid_from <= instant() &&
    (valid_to === null || valid_to > instant()) &&
    (expires_at === null || expires_at > instant());
  for (const item of items) {
    if (item.superseded_by !== null) expect(byId.get(item.superseded_by)).toBeDefined();
    if (item.status === 'active') expect(item).toMatchObject({ valid_to: null, superseded_by: null });
    const chain = [item];
    for (let next = byId.get(item.superseded_by ?? ''); next; next = byId.get(next.superseded_by ?? '')) {
      expect(chain).not.toContain(next);
      chain.push(next);
    }
    expect(chain.filter(isTrue).length).toBeLessThanOrEqual(1);
  }
}

test('as_of repeats the answer of that time after any acts, and one item of a chain is true at a time', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(acts, { minLength: 4, maxLength: 14 }), async sequence => {
      const person = await somebody();
      const ids: string[] = [];
      const moments: Moment[] = [];
      const find = async (more = {}) => (await memory.find(person, 'lives', { k: 50, ...more })).sort();
      for (const act of sequence) {
        const before = new Set(ids);
        await perform(person, act, ids).catch(error => {
          // A refused act must not change anything.
          if (!(error.status === 409 || error.status === 422)) throw error;
        });
        const gone = [...before].filter(id => !ids.includes(id));
        // as_of does not find deleted items.
        if (gone.length > 0) moments.length = 0;
        await checkChains(person);
        moments.push({ at: instant(), found: await find() });
        clock.advance(1_000);
      }
      for (const { at, found } of moments) expect([at, await find({ as_of: at })]).toEqual([at, found]);
    }),
    { numRuns: 25 },
  );
});
