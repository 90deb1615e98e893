import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Candidate, type Placement, plan } from './plan.ts';

const node = (id: string, level = 1): Candidate => ({ id, level });
const placement = (shards: number, ids: readonly string[], owners: Placement['owners'] = new Map()): Placement => ({
  shards,
  candidates: ids.map(id => node(id)),
  owners,
  levels: new Map(),
});
const countsIn = (planned: ReadonlyMap<number, string>) => {
  const counts = new Map<string, number>();
  for (const id of planned.values()) counts.set(id, (counts.get(id) ?? 0) + 1);
  return counts;
};

const placements = fc
  .record({
    shards: fc.constantFrom(1, 2, 4, 8, 64),
    ids: fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g'), { minLength: 1 }),
    owned: fc.array(fc.constantFrom('a', 'b', 'c', 'd', 'x', null), { minLength: 64, maxLength: 64 }),
    levels: fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 64, maxLength: 64 }),
    nodeLevels: fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 7, maxLength: 7 }),
  })
  .map(
    ({ shards, ids, owned, levels, nodeLevels }): Placement => ({
      shards,
      candidates: ids.map((id, index) => node(id, nodeLevels[index])),
      owners: new Map(owned.slice(0, shards).flatMap((id, shard) => (id === null ? [] : [[shard, id] as const]))),
      levels: new Map(levels.slice(0, shards).entries()),
    }),
  );

test('a plan depends on what is seen alone, and once followed it changes nothing', () => {
  fc.assert(
    fc.property(placements, seen => {
      const planned = plan(seen);
      expect(plan({ ...seen, candidates: seen.candidates.toReversed() })).toEqual(planned);
      expect(plan({ ...seen, owners: planned })).toEqual(planned);
    }),
  );
});

test('no shard goes to a node of an older level, and each that a node may lead has one', () => {
  fc.assert(
    fc.property(placements, seen => {
      const planned = plan(seen);
      for (let shard = 0; shard < seen.shards; shard++) {
        const level = seen.levels.get(shard) ?? 0;
        const able = seen.candidates.filter(candidate => candidate.level >= level).map(({ id }) => id);
        const owner = planned.get(shard);
        if (able.length === 0) expect(owner).toBeUndefined();
        else expect(able).toContain(owner);
      }
    }),
  );
});

test('among nodes of one level, every share is even, and only what is above a share moves', () => {
  fc.assert(
    fc.property(placements, ({ shards, candidates, owners }) => {
      const seen = { shards, candidates: candidates.map(({ id }) => node(id)), owners, levels: new Map() };
      const planned = plan(seen);
      const counts = candidates.map(({ id }) => countsIn(planned).get(id) ?? 0);
      expect(planned.size).toBe(shards);
      expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1);
      const before = countsIn(owners);
      for (const { id } of candidates) {
        const kept = [...planned].filter(([shard, to]) => to === id && owners.get(shard) === id).length;
        expect(kept).toBe(Math.min(before.get(id) ?? 0, countsIn(planned).get(id) ?? 0));
      }
    }),
  );
});

test('a second node gets half of the shards of the first, and its death gives them back', () => {
  const alone = plan(placement(64, ['a']));
  expect(countsIn(alone)).toEqual(new Map([['a', 64]]));
  const both = plan(placement(64, ['a', 'b'], alone));
  expect(countsIn(both)).toEqual(
    new Map([
      ['a', 32],
      ['b', 32],
    ]),
  );
  expect(plan(placement(64, ['a'], both))).toEqual(alone);
  expect(plan(placement(64, [], both)).size).toBe(0);
});
