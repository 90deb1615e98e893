import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { WriterLimits } from './commit-queue.ts';
import type { LogEntry } from './entry.ts';
import { AppendError, GroupCommitLog, type LogSession, MAX_BATCHES } from './group-commit.ts';

/**
 * The outcome of a commit: it succeeds; it is neither written nor answered; it is written but not answered; or the disk
 * is full, which also ends the session but is answered, and so is the commit sent behind it.
 */
type Fate = 'commits' | 'is lost' | 'commits and its answer is lost' | 'finds the disk full';
type Appended = { tenant: string; rows: number; kind: 'good' | 'bad' | 'fenced' };

/** Everything that group commit promises, on a session whose every commit may fail: see the properties below. */
const scenario = fc.record({
  /** Bursts of appends; after each burst, `commits` commits end. */
  bursts: fc.array(
    fc.record({
      appends: fc.array(
        fc.record({
          tenant: fc.constantFrom('a', 'b', 'c'),
          rows: fc.integer({ min: 1, max: 6 }),
          kind: fc.oneof(
            { weight: 8, arbitrary: fc.constant('good' as const) },
            { weight: 1, arbitrary: fc.constant('bad' as const) },
            { weight: 1, arbitrary: fc.constant('fenced' as const) },
          ),
        }),
        { maxLength: 45 },
      ),
      commits: fc.nat({ max: 4 }),
    }),
    { minLength: 1, maxLength: 6 },
  ),
  /** Commit number `at` ends as `fate`, and the one in flight behind it as `behind`; all others succeed. */
  fault: fc.option(
    fc.record({
      at: fc.nat({ max: 12 }),
      fates: fc.constantFrom<{ fate: Fate; behind: Fate }>(
        { fate: 'is lost', behind: 'is lost' },
        { fate: 'commits and its answer is lost', behind: 'is lost' },
        { fate: 'commits and its answer is lost', behind: 'commits and its answer is lost' },
        { fate: 'finds the disk full', behind: 'commits' },
        { fate: 'finds the disk full', behind: 'finds the disk full' },
        { fate: 'finds the disk full', behind: 'commits and its answer is lost' },
      ),
    }),
    { nil: null },
  ),
  batchRows: fc.integer({ min: 1, max: 60 }),
  worthEntries: fc.integer({ min: 1, max: 20 }),
  queuedRows: fc.integer({ min: 1, max: 120 }),
});

type Drawn = typeof scenario extends fc.Arbitrary<infer T> ? T : never;

const entryOf = (runId: string, { tenant, rows }: Appended): LogEntry => ({
  runId,
  rows: Array.from({ length: rows }, (_, index) => ({
    seq: index + 1,
    type: 'step_started',
    step: 'a',
    attempt: 1,
    json: '{}',
    at: 0,
  })),
  payloads: [],
  projection: null,
  tasks: [],
  owner: { tenantId: tenant, projectId: 'p', workflowId: 'w' },
  startedBy: '',
  usage: [],
});

const refusal = (fields: object) => Object.assign(new Error('refused'), fields);

/** A database of run ids. Commits may be sent one behind another; the test ends them in order. */
class FaultySession implements LogSession {
  readonly stored = new Set<string>();
  readonly batches: number[][] = [];
  /** The largest number of commits in flight at the same time. */
  deepest = 0;
  readonly kinds: ReadonlyMap<string, Appended>;
  readonly fault: Drawn['fault'];
  readonly #underWay: (() => void)[] = [];
  lost = false;
  readonly violations: string[] = [];

  constructor(kinds: ReadonlyMap<string, Appended>, fault: Drawn['fault']) {
    this.kinds = kinds;
    this.fault = fault;
  }

  get underWay(): boolean {
    return this.#underWay.length > 0;
  }

  async commit(batch: readonly LogEntry[]): Promise<void> {
    if (this.lost) this.violations.push('a commit on a session that was given up');
    const number = this.batches.push(batch.map(({ rows }) => rows.length)) - 1;
    await new Promise<void>(resolve => {
      this.deepest = Math.max(this.deepest, this.#underWay.push(resolve));
    });
    const fate = this.#fateOf(number);
    if (fate !== 'commits') this.lost = true;
    if (fate === 'is lost') throw refusal({ code: 'ECONNRESET' });
    if (fate === 'finds the disk full') throw refusal({ code: '53100' });
    for (const { runId } of batch) {
      const kind = this.kinds.get(runId)?.kind;
      if (kind === 'good') continue;
      // The answer to a refused commit may be lost too.
      if (fate !== 'commits') throw refusal({ code: 'ECONNRESET' });
      throw refusal(kind === 'bad' ? { code: '22P05' } : { code: '23505', constraint: 'run_events_2026_01_pkey' });
    }
    for (const { runId } of batch) {
      if (this.stored.has(runId)) this.violations.push(`${runId} was written twice`);
      this.stored.add(runId);
    }
    if (fate !== 'commits') throw refusal({ code: 'ECONNRESET' });
  }

  #fateOf(number: number): Fate {
    if (this.fault?.at === number) return this.fault.fates.fate;
    return this.lost && this.fault !== null ? this.fault.fates.behind : 'commits';
  }

  /** Ends the oldest commit in flight, if any, and lets its callers react to it. */
  async endOne(): Promise<void> {
    this.#underWay.shift()?.();
    await new Promise(resolve => setImmediate(resolve));
  }
}

type Outcome = 'committed' | AppendError['kind'];

async function play(drawn: Drawn) {
  const kinds = new Map<string, Appended>();
  const session = new FaultySession(kinds, drawn.fault);
  const limits: WriterLimits = {
    queuedRows: drawn.queuedRows,
    queuedBytes: Number.POSITIVE_INFINITY,
    batchRows: drawn.batchRows,
    batchBytes: Number.POSITIVE_INFINITY,
    quantumRows: Math.max(1, Math.floor(drawn.batchRows / 8)),
    worthEntries: drawn.worthEntries,
  };
  const causes: unknown[] = [];
  const log = new GroupCommitLog(session, cause => causes.push(cause), limits);
  const outcomes = new Map<string, Outcome>();
  const settle = (runId: string, outcome: Outcome) => {
    if (outcomes.has(runId)) session.violations.push(`${runId} was settled twice`);
    // The promise of `append`: as soon as a caller learns of the commit, its entry is in the database.
    if (outcome === 'committed' && !session.stored.has(runId))
      session.violations.push(`${runId} was told before its commit`);
    outcomes.set(runId, outcome);
  };
  let rows = 0;
  for (const burst of drawn.bursts) {
    for (const appended of burst.appends) {
      // Callers append nothing for a tenant without a share, as the runtime does.
      if (!log.hasRoom(appended.tenant)) continue;
      const runId = `r${kinds.size}`;
      kinds.set(runId, appended);
      rows = Math.max(rows, log.backlogRows + appended.rows);
      log.append(entryOf(runId, appended)).then(
        () => settle(runId, 'committed'),
        (error: unknown) => settle(runId, error instanceof AppendError ? error.kind : 'lost'),
      );
    }
    await new Promise(resolve => setImmediate(resolve));
    for (let commit = 0; commit < burst.commits; commit++) await session.endOne();
  }
  const rooms = new Map(['a', 'b', 'c'].map(tenant => [tenant, log.hasRoom(tenant)]));
  for (const [tenant, room] of rooms) if (!room) log.onRoom(tenant, () => rooms.set(tenant, true));
  let drained = false;
  const drain = log.drain().then(() => {
    drained = true;
    if (outcomes.size < kinds.size) session.violations.push('drained before all were settled');
  });
  while (session.underWay) {
    if (drained) session.violations.push('drained with a commit under way');
    await session.endOne();
  }
  await drain;
  expect(session.violations).toEqual([]);
  return { session, outcomes, kinds, causes, limits, rooms: [...rooms.values()], rows, log };
}

test('each waiter settles once, after its commit; only a bad entry fails; a lost session refuses the rest, once', async () => {
  await fc.assert(
    fc.asyncProperty(scenario, async drawn => {
      const { session, outcomes, kinds, causes } = await play(drawn);
      expect(outcomes.size).toBe(kinds.size);
      for (const [runId, { kind }] of kinds) {
        const outcome = outcomes.get(runId);
        if (outcome === 'committed') expect(kind).toBe('good');
        if (outcome === 'rejected') expect(kind).toBe('bad');
        if (outcome === 'fenced') expect(kind).toBe('fenced');
        // An entry that is not at fault may only be refused if the session is lost.
        if (outcome === 'lost') expect(session.lost).toBe(true);
      }
      expect(causes).toHaveLength(session.lost ? 1 : 0);
    }),
    { numRuns: 400 },
  );
});

test('batches in flight never exceed the limit, and sometimes reach it', async () => {
  let deepest = 0;
  await fc.assert(
    fc.asyncProperty(scenario, async drawn => {
      const { session } = await play(drawn);
      expect(session.deepest).toBeLessThanOrEqual(MAX_BATCHES);
      deepest = Math.max(deepest, session.deepest);
    }),
    { numRuns: 400 },
  );
  expect(deepest).toBe(MAX_BATCHES);
});

test('batches and the backlog stay within their limits, and callers that wait for room are called back', async () => {
  await fc.assert(
    fc.asyncProperty(scenario, async drawn => {
      const { session, limits, rooms, rows, log } = await play(drawn);
      for (const batch of session.batches)
        if (batch.length > 1) expect(batch.reduce((a, b) => a + b, 0)).toBeLessThanOrEqual(limits.batchRows);
      // Each of three tenants may exceed the limit with its last entry: its share is checked before it.
      expect(rows).toBeLessThan(limits.queuedRows + 3 * 6);
      expect(rooms).toEqual([true, true, true]);
      expect([log.backlogRows, log.backlogBytes]).toEqual([0, 0]);
    }),
    { numRuns: 400 },
  );
});
