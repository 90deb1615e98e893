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
async function startRun(runId: string) {
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
const startWithKey = (
  key: string,
  options: { body?: unknown; scope?: string; tenantId?: string; runId?: string; start?: typeof startRun } = {},
) =>
  once(
    services,
    {
      tenantId: options.tenantId ?? 'acme',
      scope: options.scope ?? 'workflow:1',
      key,
      request: options.body ?? { a: 1 },
    },
    { start: options.start ?? startRun, find, runId: options.runId },
  );

describe('the same key', () => {
  test('with the same body starts once and answers the same', async () => {
    const key = newId();
    const first = await startWithKey(key);
    expect(isId(String(first.run_id))).toBe(true);
    expect(await startWithKey(key, { body: { a: 1 } })).toEqual(first);
    expect(starts).toHaveLength(1);
  });

  test('treats bodies as equal regardless of the order of their keys', async () => {
    const key = newId();
    await startWithKey(key, { body: { a: 1, b: { c: 2, d: 3 } } });
    await startWithKey(key, { body: { b: { d: 3, c: 2 }, a: 1 } });
    expect(starts).toHaveLength(1);
  });

  test('with another body is 409', async () => {
    const key = newId();
    await startWithKey(key);
    const error = await refusal(startWithKey(key, { body: { a: 2 } }));
    expect([error.status, error.code]).toEqual([409, 'idempotency_key_reused']);
  });

  test('in another scope or for another tenant is another key', async () => {
    const key = newId();
    await startWithKey(key);
    await startWithKey(key, { scope: 'workflow:2' });
    await startWithKey(key, { tenantId: 'rival' });
    expect(new Set(starts).size).toBe(3);
  });

  test('used by forty concurrent requests starts one run, and all get it', async () => {
    const key = newId();
    const answers = await Promise.all(Array.from({ length: 40 }, () => startWithKey(key)));
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
    const answers = await Promise.all(keys.map(key => startWithKey(key, { start: noRun })));
    db.pool.off('acquire', count);
    // For the first key, and for all others together: create, purge, answer.
    expect(roundTrips).toBeLessThanOrEqual(8);
    expect(new Set(answers.map(answer => answer.run_id)).size).toBe(keys.length);
    const never = () => Promise.reject(new Error('started twice'));
    expect(await Promise.all(keys.map(key => startWithKey(key, { start: never })))).toEqual(answers);
  });

  test('make no later transaction skip the wait for the disk', async () => {
    await Promise.all(Array.from({ length: 20 }, () => startWithKey(newId())));
    const shown = await Promise.all(Array.from({ length: 10 }, () => db.pool.query('SHOW synchronous_commit')));
    expect(new Set(shown.map(({ rows }) => rows[0].synchronous_commit))).toEqual(new Set(['on']));
  });

  test('start one run for two equal keys with different bodies, and answer 409 to the other', async () => {
    const key = newId();
    await Promise.all([
      startWithKey(newId()),
      startWithKey(newId()),
      startWithKey(key, { body: { a: 1 } }),
      expect(refusal(startWithKey(key, { body: { a: 2 } }))).resolves.toMatchObject({ code: 'idempotency_key_reused' }),
      startWithKey(key, { tenantId: 'rival', body: { a: 2 } }),
    ]);
    expect(starts).toHaveLength(4);
  });
});

describe('a crash', () => {
  test('before the start leaves the key usable', async () => {
    const key = newId();
    const crash = () => Promise.reject(new Error('the process died'));
    await expect(startWithKey(key, { start: crash })).rejects.toThrow('died');
    clock.advance(1000);
    const answer = await startWithKey(key);
    expect(starts).toEqual([answer.run_id]);
  });

  test('between the start and its answer is repaired by the next request, which finds the run', async () => {
    const key = newId();
    const crash = async (runId: string) => {
      await startRun(runId);
      throw new Error('the process died');
    };
    await expect(startWithKey(key, { start: crash })).rejects.toThrow('died');
    clock.advance(60_000);
    const answer = await startWithKey(key);
    expect(starts).toEqual([answer.run_id]);
    expect(await startWithKey(key)).toEqual(answer);
  });
});

describe('a refused start', () => {
  test('stores no answer: the same request is decided again', async () => {
    const key = newId();
    const refuse = () => Promise.reject(invalid('no', undefined, 'no_published_version'));
    expect((await refusal(startWithKey(key, { start: refuse }))).code).toBe('no_published_version');
    await startWithKey(key);
    expect(starts).toHaveLength(1);
  });
});

describe('an id that the caller chose', () => {
  test('is used', async () => {
    const runId = newId();
    expect(await startWithKey(newId(), { runId })).toEqual({ run_id: runId });
  });

  test('that belongs to an older run stays 409, also when repeated', async () => {
    const runId = newId();
    await startRun(runId);
    clock.advance(1);
    const key = newId();
    for (let n = 0; n < 2; n++) expect((await refusal(startWithKey(key, { runId }))).code).toBe('run_id_taken');
  });
});

describe('time', () => {
  test('a key is valid for 24 hours', async () => {
    const key = newId();
    const first = await startWithKey(key);
    clock.advance(DAY_MS - 1);
    expect(await startWithKey(key)).toEqual(first);
    clock.advance(1);
    const second = await startWithKey(key, { body: { another: true } });
    expect(second.run_id).not.toBe(first.run_id);
    expect(starts).toHaveLength(2);
  });

  test('expired keys are deleted by new ones', async () => {
    await db.pool.query('DELETE FROM idempotency_keys'); // of the other tests
    for (let n = 0; n < 25; n++) await startWithKey(`old-${n}-${newId()}`, { scope: 'purge' });
    clock.advance(2 * DAY_MS);
    await startWithKey(newId(), { scope: 'purge' });
    await startWithKey(newId(), { scope: 'purge' });
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
      await startRun(runId);
      throw new Error('the process died');
    };
    await expect(startWithKey(key, { start: crash })).rejects.toThrow('died');
    const answer = await startWithKey(key);
    expect(starts).toEqual([answer.run_id]);
  });

  test('during many concurrent requests: one run, and all get it', async () => {
    const key = newId();
    const start = async (runId: string) => {
      clock.advance(-1);
      return startRun(runId);
    };
    const answers = await Promise.all(Array.from({ length: 20 }, () => startWithKey(key, { start })));
    expect(new Set(answers.map(answer => answer.run_id))).toEqual(new Set(starts));
    expect(starts).toHaveLength(1);
  });

  test('keeps a key from the future in force, rather than starting twice', async () => {
    const key = newId();
    const first = await startWithKey(key);
    clock.advance(-30 * DAY_MS);
    expect(await startWithKey(key)).toEqual(first);
    expect((await refusal(startWithKey(key, { body: { a: 2 } }))).code).toBe('idempotency_key_reused');
    clock.advance(31 * DAY_MS);
    expect((await startWithKey(key)).run_id).not.toBe(first.run_id);
  });

  test('refuses a taken id that the caller chose, because it may belong to another request', async () => {
    const runId = newId();
    const key = newId();
    const crash = async (id: string) => {
      clock.advance(-hour);
      await startRun(id);
      throw new Error('the process died');
    };
    await expect(startWithKey(key, { runId, start: crash })).rejects.toThrow('died');
    expect((await refusal(startWithKey(key, { runId }))).code).toBe('run_id_taken');
    expect(starts).toEqual([runId]);
  });
});

describe('the header', () => {
  const readKey = (value: string) => idempotencyKey(new Map([['idempotency-key', value]]));
  test('is 1 to 255 printable characters', () => {
    expect(idempotencyKey(new Map())).toBeNull();
    expect(readKey('x')).toBe('x');
    expect(readKey('~'.repeat(255))).toHaveLength(255);
    for (const bad of ['', '~'.repeat(256), 'tab\t', 'é', 'nul\0', 'line\nbreak']) {
      expect(() => readKey(bad)).toThrow(expect.objectContaining({ status: 422, code: 'invalid_idempotency_key' }));
    }
  });
});
