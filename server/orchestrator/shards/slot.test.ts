import { afterAll, beforeAll, expect, test } from 'vitest';
import { newId } from '../../platform/ids.ts';
import { createTestDatabase, type TestDatabase } from '../../testing/postgres.ts';
import { createLogReader } from '../log/index.ts';
import { ALL_SHARDS, isAmong, type Shards, SLOTS, shardOf, slotOf } from './slot.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.close());

const GOLDEN: readonly [id: string, slot: number][] = [
  ['', 58_288],
  ['acme', 33_323],
  ['Zürich', 16_977],
  ['東京', 4_864],
  ['a🙂b', 65_337],
];

test('slots never change, and PostgreSQL computes the same', async () => {
  expect(GOLDEN.map(([id]) => [id, slotOf(id)])).toEqual(GOLDEN);
  const ids = [...GOLDEN.map(([id]) => id), ...Array.from({ length: 2_000 }, (_, n) => `${newId()} ü${n} 東 🙂`)];
  const { rows } = await db.pool.query<{ id: string; slot: number }>(
    'SELECT id, baton_slot(id) AS slot FROM unnest($1::text[]) id',
    [ids],
  );
  expect(rows).toHaveLength(ids.length);
  expect(rows).toEqual(ids.map(id => ({ id, slot: slotOf(id) })));
});

test('slots fill all shards evenly', () => {
  const counts = new Map<number, number>();
  for (let n = 0; n < 12_800; n++) {
    const slot = slotOf(`workspace-${n}`);
    expect(slot).toBeLessThan(SLOTS);
    counts.set(slot % 64, (counts.get(slot % 64) ?? 0) + 1);
  }
  expect(counts.size).toBe(64);
  for (const count of counts.values()) expect(Math.abs(count - 200)).toBeLessThan(80);
});

test('the leader reads only runs in its own shards', async () => {
  const reader = createLogReader(db.pool);
  const tenants = Array.from({ length: 20 }, (_, n) => `team-${n}`);
  const at = new Date(0);
  for (const slug of tenants) {
    await db.pool.query('INSERT INTO tenants (slug, name, created_at) VALUES ($1, $1, $2)', [slug, at]);
    const [moving, waiting, called] = [newId(), newId(), newId()];
    for (const [id, phase] of [
      [moving, 'running'],
      [waiting, 'blocked'],
      [called, 'paused'],
    ])
      await db.pool.query(
        `INSERT INTO runs (id, tenant_id, project_id, workflow_id, version, status, orchestration_phase, session_id,
           trigger_type, started_by, started_at, steps_total, steps_done, pending_tasks, last_seq, next_timer_at)
         VALUES ($1, $2, $1, $1, 1, 'running', $3, '', '', '', $4, 1, 0, 0, 1, $4)`,
        [id, slug, phase, at],
      );
    await db.pool.query(
      `INSERT INTO child_runs (run_id, parent_run_id, parent_workflow_id, parent_step_id, detached) VALUES ($1, $2, $2, 'a', false)`,
      [called, waiting],
    );
  }
  const tenantsOf = async (ids: readonly string[]) => {
    const { rows } = await db.pool.query<{ tenant_id: string }>(
      'SELECT DISTINCT tenant_id FROM runs WHERE id = ANY($1)',
      [ids],
    );
    return rows.map(({ tenant_id }) => tenant_id).sort();
  };
  const tenantsReadFor = async (shards: Shards) => [
    [...(await reader.countActiveRuns(shards)).byTenant.keys()].sort(),
    await tenantsOf(await reader.movingRuns(shards, null, 1_000)),
    await tenantsOf((await reader.wakeUpTimers(shards)).map(({ runId }) => runId)),
    await tenantsOf(await reader.idleCallers(shards, null, 1_000)),
  ];
  const four = (list: string[]) => [list, list, list, list];
  expect(await tenantsReadFor(ALL_SHARDS)).toEqual(four([...tenants].sort()));
  for (let shard = 0; shard < 4; shard++) {
    const shards: Shards = { count: 4, led: new Set([shard]) };
    const ownTenants = tenants.filter(tenant => shardOf(tenant, 4) === shard).sort();
    expect(ownTenants).toEqual(tenants.filter(tenant => isAmong(shards, tenant)).sort());
    expect(await tenantsReadFor(shards)).toEqual(four(ownTenants));
  }
  expect(await tenantsReadFor({ count: 4, led: new Set() })).toEqual(four([]));
});
