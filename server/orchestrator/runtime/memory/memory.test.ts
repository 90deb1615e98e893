import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { newId } from '../../../platform/ids.ts';
import {
  createHarness,
  DEFAULT_CONFIG,
  Gate,
  type Harness,
  type HarnessOptions,
  outline,
  stepType,
} from '../../../testing/engine/runtime.ts';
import { createTestDatabase, type TestDatabase } from '../../../testing/postgres.ts';
import type { Graph } from '../../core/index.ts';
import { createLoadJournal } from '../../log/index.ts';
import { postgresConnector } from '../leadership/leader-connection.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.close());
// One test's unfinished work must not affect the next.
afterEach(() => db.pool.query('UPDATE runs SET ended_at = started_at'));

const LARGE = { text: 'x'.repeat(500_000) };
const large = stepType('large', async () => ({ kind: 'completed', result: LARGE }));
const PAIR: Graph = {
  steps: [
    { id: 'a', type: 'large' },
    { id: 'b', type: 'gate', depends_on: ['a'] },
  ],
};

async function withHarness(options: HarnessOptions, act: (harness: Harness) => Promise<void>): Promise<void> {
  const harness = await createHarness(db, options);
  try {
    await act(harness);
  } finally {
    await harness.orchestrator.close();
  }
}

const limits = (memory: Partial<typeof DEFAULT_CONFIG.memory>) => ({
  config: { ...DEFAULT_CONFIG, memory: { ...DEFAULT_CONFIG.memory, ...memory } },
});

test('a large result is not held by the run; the next process reads it when a step needs it', async () => {
  const first = new Gate();
  const ref = await begin(first);
  await withHarness({ types: [large, first.type] }, async () => undefined);
  const gate = new Gate();
  await withHarness({ types: [large, gate.type] }, async harness => {
    await gate.arrived(1);
    expect(gate.waiting[0]?.attempt.result('a')).toEqual(LARGE);
    const { runs, loaded_results, cached_results } = harness.orchestrator.load().memory;
    expect(runs).toBeLessThan(10_000);
    expect([loaded_results, cached_results]).toEqual([500_011, 500_011]);
    gate.waiting[0]?.settle({ kind: 'completed', result: 1 });
    await harness.ended(ref);
    expect(harness.orchestrator.load().memory).toEqual({
      runs: 0,
      landing_results: 0,
      loaded_results: 0,
      cached_results: 500_011,
    });
  });

  async function begin(waiting: Gate) {
    const harness = await createHarness(db, { types: [large, waiting.type] });
    const run = await harness.start(harness.workflow(PAIR));
    await waiting.arrived(1);
    await harness.orchestrator.close();
    return run;
  }
});

test('what a step reads is limited: at the limit it is loaded, above it the step fails', async () => {
  const text = (step: string) => ({ id: `read_${step}`, type: 'reader', depends_on: [step] });
  const graph: Graph = { steps: [{ id: 'a', type: 'large' }, text('a')] };
  const reader = stepType('reader', async attempt => ({
    kind: 'completed',
    result: JSON.stringify(attempt.result('a')).length,
  }));
  for (const [loadingBytes, end] of [
    [500_011, 'completed'],
    [500_010, 'failed'],
  ] as const) {
    await withHarness({ types: [large, reader], ...limits({ loadingBytes }) }, async harness => {
      const run = await harness.start(harness.workflow(graph));
      await harness.ended(run);
      expect(outline(await harness.events(run)).at(-1)).toBe(`state_changed ${end}`);
    });
  }
});

test('a step whose result exceeds the budget of the run fails; one whose result just fits succeeds', async () => {
  const graph: Graph = { steps: [{ id: 'a', type: 'large' }] };
  // The start alone holds three empty objects.
  for (const [runBytes, code] of [
    [500_011 + 3 * 56, undefined],
    [500_011 + 3 * 56 - 1, 'run_too_large'],
  ] as const) {
    await withHarness({ types: [large], ...limits({ runBytes }) }, async harness => {
      const run = await harness.start(harness.workflow(graph));
      await harness.ended(run);
      const failed = (await harness.events(run)).find(({ event }) => event.type === 'step_failed')?.event;
      expect(failed?.type === 'step_failed' ? failed.data.error.code : undefined).toBe(code);
    });
  }
});

describe('starts', () => {
  const graph: Graph = { steps: [{ id: 'a', type: 'gate' }] };

  test('are refused with more than the run may hold', async () => {
    const gate = new Gate();
    await withHarness({ types: [gate.type], ...limits({ runBytes: 1_000 }) }, async harness => {
      const input = { text: 'x'.repeat(1_000) };
      await expect(harness.start(harness.workflow(graph), { input })).rejects.toMatchObject({
        status: 422,
        code: 'run_too_large',
      });
      await harness.start(harness.workflow(graph), { input: { text: 'x'.repeat(700) } });
    });
  });

  test('are refused when the runs of their workspace fill its memory, and those of other workspaces are not', async () => {
    const gate = new Gate();
    await withHarness({ types: [gate.type], ...limits({ liveBytesPerTenant: 4_000 }) }, async harness => {
      const acme = harness.workflow(graph);
      await harness.start(acme);
      await harness.start(acme);
      await expect(harness.start(acme)).rejects.toMatchObject({ status: 429, code: 'too_much_memory' });
      await harness.start(harness.workflow(graph, 'other'));
      await gate.arrived(3);
      for (const { settle } of gate.waiting) settle({ kind: 'completed', result: 1 });
    });
  });

  test('are refused for a workspace that takes as much memory as is left, and never for the others', async () => {
    const gate = new Gate();
    await withHarness({ types: [gate.type], ...limits({ liveBytes: 6_000 }) }, async harness => {
      const acme = harness.workflow(graph);
      await harness.start(acme);
      await harness.start(acme);
      await expect(harness.start(acme)).rejects.toMatchObject({ status: 429, code: 'too_much_memory' });
      // Even those beyond the limit find room for one run.
      for (const tenant of ['b', 'c', 'd', 'e']) await harness.start(harness.workflow(graph, tenant));
      expect(harness.orchestrator.load().memory.runs).toBeGreaterThan(6_000);
      for (const tenant of ['b', 'c', 'd', 'e'])
        await expect(harness.start(harness.workflow(graph, tenant))).rejects.toMatchObject({ status: 429 });
    });
  });
});

describe('a run that processes died of while they loaded it', () => {
  const graph: Graph = { steps: [{ id: 'a', type: 'gate' }] };

  /** Returns runs with a step in flight. One process starts all of them: a second one would start the steps of the first again. */
  async function inFlight(count: number): Promise<{ runId: string; read(harness: Harness): Promise<string[]> }[]> {
    const gate = new Gate();
    const harness = await createHarness(db, { types: [gate.type] });
    const runs = await Promise.all(Array.from({ length: count }, () => harness.start(harness.workflow(graph))));
    await gate.arrived(count);
    await harness.orchestrator.close();
    return runs.map(run => ({ runId: run.runId, read: async next => outline(await next.events(run)) }));
  }

  test('is loaded alone, counts each death, and is cleared once it was loaded', async () => {
    const dead = createLoadJournal(db.pool, newId());
    const next = createLoadJournal(db.pool, newId());
    const runId = newId();
    await dead.begin('background', [runId, newId()]);
    await dead.begin('background', [runId]);
    await dead.begin('urgent', [runId]);
    expect([...(await next.deaths(new Set()))]).toEqual([[runId, 2]]);
    await next.begin('background', [runId]);
    // Its own entry does not count as a death: this process is alive.
    expect([...(await next.deaths(new Set()))]).toEqual([[runId, 2]]);
    await next.forget(runId);
    expect((await next.deaths(new Set())).size).toBe(0);
  });

  test('counts while another process takes runs only if the process that loads it is dead', async () => {
    const living = { id: randomUUID(), runId: newId() };
    const dying = { id: randomUUID(), runId: newId() };
    const sessions = await Promise.all(
      [living, dying].map(async ({ id, runId }) => {
        const session = postgresConnector(db.url, { lock: 1, processId: id })();
        await session.open();
        await createLoadJournal(db.pool, id).begin('background', [runId]);
        return session;
      }),
    );
    const take = () => createLoadJournal(db.pool, randomUUID()).deaths(new Set());
    for (let takes = 0; takes < 3; takes++) expect((await take()).size).toBe(0);
    sessions[1]?.destroy();
    await expect.poll(async () => [...(await take())]).toEqual([[dying.runId, 1]]);
    // The entry of the living one is still there, and counts once it dies too.
    await sessions[0]?.end();
    await expect.poll(async () => (await take()).get(living.runId)).toBe(1);
    expect((await take()).get(living.runId)).toBe(1);
    await db.pool.query('DELETE FROM run_load_deaths');
  });

  test('stays in the journal while its own process takes more runs, unless the entry is of an earlier term', async () => {
    const id = randomUUID();
    const journal = createLoadJournal(db.pool, id);
    const lanes = async () =>
      (await db.pool.query('SELECT lane FROM run_loads WHERE process_id = $1', [id])).rows.map(({ lane }) => lane);
    await journal.begin('background', [newId()]);
    await journal.begin('urgent', [newId()]);
    expect((await journal.deaths(new Set(['background']))).size).toBe(0);
    expect(await lanes()).toEqual(['background']);
    expect((await journal.deaths(new Set())).size).toBe(0);
    expect(await lanes()).toEqual([]);
  });

  test('is loaded again after two deaths; after three it fails, and other runs continue', async () => {
    const [twice, often, never] = await inFlight(3);
    if (twice === undefined || often === undefined || never === undefined) throw new Error('three runs were started');
    await db.pool.query('INSERT INTO run_load_deaths (run_id, deaths) VALUES ($1, 2), ($2, 3)', [
      twice.runId,
      often.runId,
    ]);
    const gate = new Gate();
    await withHarness({ types: [gate.type] }, async harness => {
      await harness.orchestrator.recovered;
      await gate.arrived(2);
      expect(gate.waiting.map(({ attempt }) => attempt.run.id).sort()).toEqual([twice.runId, never.runId].sort());
      await harness.until({ ...harness.workflow(graph), runId: often.runId }, event => event.type === 'state_changed');
      expect(await often.read(harness)).toEqual([
        'run_started',
        'step_started a',
        'step_failed a',
        'state_changed failed',
      ]);
      const { rows } = await db.pool.query<{ error: { code: string; message: string } }>(
        'SELECT error FROM runs WHERE id = $1',
        [often.runId],
      );
      expect(rows[0]?.error).toEqual({
        code: 'run_quarantined',
        message: 'The service ended 3 times while it loaded this run.',
        step_id: 'a',
      });
      for (const { settle } of gate.waiting) settle({ kind: 'completed', result: 1 });
    });
    expect((await db.pool.query('SELECT * FROM run_loads')).rows).toEqual([]);
    expect((await db.pool.query('SELECT * FROM run_load_deaths')).rows).toEqual([]);
  });
});
