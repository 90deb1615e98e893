import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Services } from '../../../operation/services.ts';
import { DAY_MS, ManualClock } from '../../../platform/clock.ts';
import { conflict, invalid } from '../../../platform/errors.ts';
import { isId, newId } from '../../../platform/ids.ts';
import { createTestServices } from '../../../testing/identity.ts';
import { createTestDatabase, type TestDatabase } from '../../../testing/postgres.ts';
import { insertRun, refusal } from '../../../testing/workflows.ts';
import { idempotencyKey, once } from './idempotency.ts';

let db: TestDatabase;
let services: Services;
let clock: ManualClock;
let starts: string[];
const workflow = { tenantId: 'acme', projectId: newId(), workflowId: newId() };

beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.close());
beforeEach(() => {
  clock = new ManualClock();
  services = createTestServices(db, { clock });
  starts = [];
});

const runTaken = () => conflict('run_id_taken', 'taken');

/** Starts a run in the database as an orchestrator does: the primary key accepts an id once. */
async function begin(runId: string) {
  try {
    await insertRun(services, { ...workflow, id: runId, startedAt: new Date(clock.now()) });
  } catch {
    throw runTaken();
  }
  starts.push(runId);
  return { run_id: runId };
}
async function find(runId: string, notBefore: Date | null) {
  const { rows } = await db.pool.query(
    'SELECT 1 FROM runs WHERE id = $1 AND ($2::timestamptz IS NULL OR started_at >= $2)',
    [runId, notBefore],
  );
  return rows.length === 1 ? { run_id: runId } : null;
}
const ask = (
  key: string,
  options: { body?: unknown; scope?: string; tenantId?: string; runId?: string; start?: typeof begin } = {},
) =>
  once(
    services,
    {
      tenantId: options.tenantId ?? 'acme',
      scope: options.scope ?? 'workflow:1',
      key,
      request: options.body ?? { a: 1 },
    },
    { start: options.start ?? begin, find, runId: options.runId },
  );

describe('the same key', () => {
  test('with the same body starts once and answers the same', async () => {
    const key = newId();
    const first = await ask(key);
    expect(isId(String(first.run_id))).toBe(true);
    expect(await ask(key, { body: { a: 1 } })).toEqual(first);
    expect(starts).toHaveLength(1);
  });

  test('treats bodies as equal regardless of the order of their keys', async () => {
    const key = newId();
    await ask(key, { body: { a: 1, b: { c: 2, d: 3 } } });
    await ask(key, { body: { b: { d: 3, c: 2 }, a: 1 } });
    expect(starts).toHaveLength(1);
  });

  test('with another body is 409', async () => {
    const key = newId();
    await ask(key);
    const error = await refusal(ask(key, { body: { a: 2 } }));
    expect([error.status, error.code]).toEqual([409, 'idempotency_key_reused']);
  });

  test('in another scope or for another tenant is another key', async () => {
    const key = newId();
    await ask(key);
    await ask(key, { scope: 'workflow:2' });
    await ask(key, { tenantId: 'rival' });
    expect(new Set(starts).size).toBe(3);
  });

  test('used by forty concurrent requests starts one run, and all get it', async () => {
    const key = newId();
    const answers = await Promise.all(Array.from({ length: 40 }, () => ask(key)));
    expect(starts).toHaveLength(1);
    expect(new Set(answers.map(answer => answer.run_id))).toEqual(new Set(starts));
  });
});

describe('many keys at once', () => {
  test('share their commits, and each keeps its own answer', async () => {
    const keys = Array.from({ length: 30 }, () => newId());
    let roundTrips = 0;
    const count = () => {
      roundTrips += 1;
    };
    db.pool.on('acquire', count);
    const noRun = async (runId: string) => ({ run_id: runId });
    const answers = await Promise.all(keys.map(key => ask(key, { start: noRun })));
    db.pool.off('acquire', count);
    // For the first key, and for all others together: create, purge, answer.
    expect(roundTrips).toBeLessThanOrEqual(8);
    expect(new Set(answers.map(answer => answer.run_id)).size).toBe(keys.length);
    const never = () => Promise.reject(new Error('started twice'));
    expect(await Promise.all(keys.map(key => ask(key, { start: never })))).toEqual(answers);
  });

  test('make no later transaction skip the wait for the disk', async () => {
    await Promise.all(Array.from({ length: 20 }, () => ask(newId())));
    const shown = await Promise.all(Array.from({ length: 10 }, () => db.pool.query('SHOW synchronous_commit')));
    expect(new Set(shown.map(({ rows }) => rows[0].synchronous_commit))).toEqual(new Set(['on']));
  });

  test('with two equal ones and different bodies: one starts, the other is 409', async () => {
    const key = newId();
    await Promise.all([
      ask(newId()),
      ask(newId()),
      ask(key, { body: { a: 1 } }),
      expect(refusal(ask(key, { body: { a: 2 } }))).resolves.toMatchObject({ code: 'idempotency_key_reused' }),
      ask(key, { tenantId: 'rival', body: { a: 2 } }),
    ]);
    expect(starts).toHaveLength(4);
  });
});

describe('a crash', () => {
  test('before the start leaves the key usable', async () => {
    const key = newId();
    const crash = () => Promise.reject(new Error('the process died'));
    await expect(ask(key, { start: crash })).rejects.toThrow('died');
    clock.advance(1000);
    const answer = await ask(key);
    expect(starts).toEqual([answer.run_id]);
  });

  test('between the start and its answer is repaired by the next request, which finds the run', async () => {
    const key = newId();
    const crash = async (runId: string) => {
      await begin(runId);
      throw new Error('the process died');
    };
    await expect(ask(key, { start: crash })).rejects.toThrow('died');
    clock.advance(60_000);
    const answer = await ask(key);
    expect(starts).toEqual([answer.run_id]);
    expect(await ask(key)).toEqual(answer);
  });
});

describe('a refused start', () => {
  test('stores no answer: the same request is decided again', async () => {
    const key = newId();
    const refuse = () => Promise.reject(invalid('no', undefined, 'no_published_version'));
    expect((await refusal(ask(key, { start: refuse }))).code).toBe('no_published_version');
    await ask(key);
    expect(starts).toHaveLength(1);
  });
});

describe('an id that the caller chose', () => {
  test('is used', async () => {
    const runId = newId();
    expect(await ask(newId(), { runId })).toEqual({ run_id: runId });
  });

  test('that belongs to an older run stays 409, also when repeated', async () => {
    const runId = newId();
    await begin(runId);
    clock.advance(1);
    const key = newId();
    for (let n = 0; n < 2; n++) expect((await refusal(ask(key, { runId }))).code).toBe('run_id_taken');
  });
});

describe('time', () => {
  test('a key lives 24 hours and not longer', async () => {
    const key = newId();
    const first = await ask(key);
    clock.advance(DAY_MS - 1);
    expect(await ask(key)).toEqual(first);
    clock.advance(1);
    const second = await ask(key, { body: { another: true } });
    expect(second.run_id).not.toBe(first.run_id);
    expect(starts).toHaveLength(2);
  });

  test('expired keys are deleted by new ones', async () => {
    await db.pool.query('DELETE FROM idempotency_keys'); // of the other tests
    for (let n = 0; n < 25; n++) await ask(`old-${n}-${newId()}`, { scope: 'purge' });
    clock.advance(2 * DAY_MS);
    await ask(newId(), { scope: 'purge' });
    await ask(newId(), { scope: 'purge' });
    const { rows } = await db.pool.query(`SELECT count(*)::int AS n FROM idempotency_keys WHERE scope = 'purge'`);
    expect(rows[0].n).toBe(2);
  });
});

describe('a clock that is set back', () => {
  const hour = 60 * 60 * 1000;

  test('between a reservation and its start: a retry still gets the run', async () => {
    const key = newId();
    const crash = async (runId: string) => {
      clock.advance(-hour);
      await begin(runId);
      throw new Error('the process died');
    };
    await expect(ask(key, { start: crash })).rejects.toThrow('died');
    const answer = await ask(key);
    expect(starts).toEqual([answer.run_id]);
  });

  test('during many concurrent requests: one run, and all get it', async () => {
    const key = newId();
    const start = async (runId: string) => {
      clock.advance(-1);
      return begin(runId);
    };
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask(key, { start })));
    expect(new Set(answers.map(answer => answer.run_id))).toEqual(new Set(starts));
    expect(starts).toHaveLength(1);
  });

  test('keeps a key from the future in force, rather than starting twice', async () => {
    const key = newId();
    const first = await ask(key);
    clock.advance(-30 * DAY_MS);
    expect(await ask(key)).toEqual(first);
    expect((await refusal(ask(key, { body: { a: 2 } }))).code).toBe('idempotency_key_reused');
    clock.advance(31 * DAY_MS);
    expect((await ask(key)).run_id).not.toBe(first.run_id);
  });

  test("and an id of the caller's that is taken stays refused: whose run it is cannot be told", async () => {
    const runId = newId();
    const key = newId();
    const crash = async (id: string) => {
      clock.advance(-hour);
      await begin(id);
      throw new Error('the process died');
    };
    await expect(ask(key, { runId, start: crash })).rejects.toThrow('died');
    expect((await refusal(ask(key, { runId }))).code).toBe('run_id_taken');
    expect(starts).toEqual([runId]);
  });
});

describe('the header', () => {
  const read = (value: string) => idempotencyKey(new Map([['idempotency-key', value]]));
  test('is 1 to 255 printable characters', () => {
    expect(idempotencyKey(new Map())).toBeNull();
    expect(read('x')).toBe('x');
    expect(read('~'.repeat(255))).toHaveLength(255);
    for (const bad of ['', '~'.repeat(256), 'tab\t', 'é', 'nul\0', 'line\nbreak']) {
      expect(() => read(bad)).toThrow(expect.objectContaining({ status: 422, code: 'invalid_idempotency_key' }));
    }
  });
});
