import { setImmediate as turn } from 'node:timers/promises';
import type { Pool } from 'pg';
import { afterEach, expect, test } from 'vitest';
import { createLogger } from '../../../platform/logger.ts';
import { DEFAULT_CONFIG, ManualTime } from '../../../testing/engine/runtime.ts';
import type { LogReader } from '../../log/index.ts';
import { Embedded } from '../embedded-orchestrator.ts';
import type { EmbeddedOrchestratorOptions } from '../orchestrator-options.ts';
import type { LeaderConnection, LockAttempt, SessionState } from './leader-connection.ts';
import { acquireLeadership } from './leadership.ts';

const IN_ORDER: SessionState = { backend: 1, marked: true, holdsLock: true, shards: [], readOnly: null };
const ACQUIRED: LockAttempt = { ...IN_ORDER, holdsLock: false, acquired: true };
const REFUSED: LockAttempt = { ...ACQUIRED, acquired: false };

type Step = 'open' | 'tryLock' | 'check' | 'commit' | 'end' | 'beforeLeading' | 'countActiveRuns' | 'beginTerm';

/** A process whose database answers when the test says so, or immediately for the steps in `answers`. */
class Process {
  readonly time = new ManualTime();
  readonly asked: Step[] = [];
  readonly connections: { destroyed: boolean; lose(cause: unknown): void }[] = [];
  readonly orchestrator: Embedded;
  readonly #waiting: { step: Step; resolve: (value: never) => void; reject: (error: unknown) => void }[] = [];
  readonly #answers: Partial<Record<Step, () => unknown>>;

  constructor(answers: Partial<Record<Step, () => unknown>> = {}, options: Partial<EmbeddedOrchestratorOptions> = {}) {
    this.#answers = answers;
    this.orchestrator = new Embedded({
      pool: {} as Pool,
      connectionString: '',
      clock: this.time.clock,
      logger: createLogger('silent'),
      stepTypes: new Map(),
      config: DEFAULT_CONFIG,
      beforeLeading: () => this.#ask('beforeLeading'),
      ports: {
        connect: () => this.connect(),
        alarm: this.time.alarm,
        reader: this.#reader(),
        terms: {
          begin: () => this.#ask('beginTerm'),
          readAgain: async () => undefined,
          survive: async () => undefined,
        },
      },
      ...options,
    });
  }

  /** Answers the oldest question of this kind. */
  answer(step: Step, value: unknown): void {
    this.#take(step).resolve(value as never);
  }

  refuse(step: Step, error: unknown): void {
    this.#take(step).reject(error);
  }

  /** Settles once this step was asked and has not been answered. */
  async until(step: Step): Promise<void> {
    for (let turns = 0; !this.#waiting.some(each => each.step === step); turns++) {
      if (turns > 100) throw new Error(`${step} was not asked; asked were ${this.asked}`);
      await turn();
    }
  }

  /** Advances time second by second, with everything that follows from it. */
  async pass(seconds: number): Promise<void> {
    for (let second = 0; second < seconds * 4; second++) {
      this.time.advance(250);
      await turn();
    }
  }

  count(step: Step): number {
    return this.asked.filter(each => each === step).length;
  }

  #take(step: Step) {
    const index = this.#waiting.findIndex(each => each.step === step);
    const [found] = index < 0 ? [] : this.#waiting.splice(index, 1);
    if (found === undefined) throw new Error(`${step} is not waiting`);
    return found;
  }

  #ask<T>(step: Step): Promise<T> {
    this.asked.push(step);
    const answer = this.#answers[step];
    if (answer !== undefined) return Promise.resolve().then(() => answer() as T);
    return new Promise<T>((resolve, reject) => this.#waiting.push({ step, resolve, reject }));
  }

  connect(): LeaderConnection {
    const { promise: lost, resolve: lose } = Promise.withResolvers<unknown>();
    const connection = { destroyed: false, lose };
    this.connections.push(connection);
    return {
      lost,
      open: () => this.#ask('open'),
      lockShard: async () => true,
      unlockShard: async () => undefined,
      tryLock: () => this.#ask('tryLock'),
      check: () => this.#ask('check'),
      commit: () => this.#ask('commit'),
      end: () => this.#ask('end'),
      destroy: () => {
        connection.destroyed = true;
      },
    };
  }

  #reader(): LogReader {
    return {
      readRuns: async () => ({ runs: new Map(), left: [] }),
      readStored: async () => new Map(),
      countActiveRuns: () => this.#ask('countActiveRuns'),
      countDescendants: async () => ({ started: 0, active: 0 }),
      movingRuns: async () => [],
      wakeUpTimers: async () => [],
      childRuns: async () => [],
      idleCallers: async () => [],
    };
  }
}

const TERM = { term: 1, survived: new Set([1]) };
const NO_RUNS = { byTenant: new Map(), byStatus: new Map() };
/** The answers of a database that accepts the process as the leader. */
const WELL: Partial<Record<Step, () => unknown>> = {
  open: () => undefined,
  tryLock: () => ACQUIRED,
  check: () => IN_ORDER,
  beforeLeading: () => undefined,
  countActiveRuns: () => NO_RUNS,
  beginTerm: () => TERM,
  commit: () => undefined,
  end: () => undefined,
};
const without = (...steps: Step[]) =>
  Object.fromEntries(Object.entries(WELL).filter(([step]) => !steps.includes(step as Step)));

const processes: Process[] = [];
function begin(...of: ConstructorParameters<typeof Process>): Process {
  const made = new Process(...of);
  processes.push(made);
  return made;
}
afterEach(async () => {
  for (const made of processes.splice(0)) {
    const closed = made.orchestrator.close();
    await made.pass(20);
    await closed;
  }
});

const status = (made: Process) => made.orchestrator.status();
const until = async (made: Process, wanted: string) => {
  for (let turns = 0; turns < 200 && status(made) !== wanted; turns++) await turn();
  expect(status(made)).toBe(wanted);
};
/** Settles as soon as the process is closed, while the time passes that its limits allow. */
async function closes(made: Process, closed: Promise<void>, seconds: number): Promise<void> {
  let isClosed = false;
  void closed.then(() => {
    isClosed = true;
  });
  await made.pass(seconds);
  expect(isClosed).toBe(true);
  expect(made.connections.every(({ destroyed }) => destroyed)).toBe(true);
  expect(status(made)).toBe('stopped');
}

const TAKEOVER: [Step, unknown][] = [
  ['open', undefined],
  ['tryLock', ACQUIRED],
  ['check', IN_ORDER],
  ['beforeLeading', undefined],
  ['countActiveRuns', NO_RUNS],
  ['beginTerm', TERM],
];

test.each(TAKEOVER)('stopped while %s of a takeover is not answered: no session stays behind', async step => {
  const made = begin(without(step, 'end'));
  await made.until(step);
  const closed = made.orchestrator.close();
  // A read of the pool has a limit of its own, and is awaited.
  if (['beforeLeading', 'countActiveRuns', 'beginTerm'].includes(step)) made.refuse(step, new Error('query timeout'));
  await closes(made, closed, 3);
});

test.each(TAKEOVER)('stopped in the turn in which %s is answered: no session stays behind', async (step, answer) => {
  for (const first of ['answer', 'close']) {
    const made = begin(without(step));
    await made.until(step);
    if (first === 'answer') made.answer(step, answer);
    const closed = made.orchestrator.close();
    if (first === 'close') made.answer(step, answer);
    await closes(made, closed, 3);
    expect(made.count('open')).toBe(1);
  }
});

test('stopped at any turn of the event loop of a takeover: it is closed, and nothing is held', async () => {
  for (let turns = 0; turns < 40; turns++) {
    const made = begin(WELL);
    for (let each = 0; each < turns; each++) await Promise.resolve();
    await closes(made, made.orchestrator.close(), 1);
  }
});

test('stopped while it waits as a standby, or leads on a session that does not answer', async () => {
  const standby = begin({ ...WELL, tryLock: () => REFUSED });
  await until(standby, 'standby');
  await closes(standby, standby.orchestrator.close(), 1);
  const leader = begin(without('end'));
  await until(leader, 'leading');
  await closes(leader, leader.orchestrator.close(), 3);
});

test('a session lost during the shutdown is not replaced', async () => {
  const made = begin(without('end'));
  await until(made, 'leading');
  const closed = made.orchestrator.close();
  made.connections[0]?.lose(new Error('gone'));
  await closes(made, closed, 15);
  expect(made.count('open')).toBe(1);
});

test.each(['open', 'tryLock', 'check'] as const)(
  '%s that is never answered is given up and tried again',
  async step => {
    const made = begin(without(step));
    await made.until(step);
    await made.pass(3.75);
    expect(made.connections).toHaveLength(1);
    await made.pass(0.5);
    expect(status(made)).toBe('unavailable');
    expect(made.orchestrator.unavailableReason()).toMatch(/cannot be reached/);
    expect(made.connections[0]?.destroyed).toBe(true);
    await made.pass(1);
    expect(made.connections.length).toBeGreaterThan(1);
  },
);

test('a standby whose connection goes silent reconnects within seconds', async () => {
  let silent = false;
  const never = new Promise<never>(() => undefined);
  const made = begin({ ...WELL, tryLock: () => (silent ? never : REFUSED) });
  await until(made, 'standby');
  silent = true;
  await made.pass(5);
  expect(made.connections[0]?.destroyed).toBe(true);
  silent = false;
  await made.pass(2);
  expect(status(made)).toBe('standby');
});

test('a leader gives up a session that is silent for 7.5 s, and not one that answers anything meanwhile', async () => {
  const made = begin(without('check'));
  await made.until('check');
  made.answer('check', IN_ORDER);
  await until(made, 'leading');
  await made.pass(2.5);
  expect(made.count('check')).toBe(2);
  await made.pass(7.25);
  expect(status(made)).toBe('leading');
  await made.pass(0.25);
  expect(status(made)).toBe('unavailable');
});

test.each<[string, Partial<SessionState>, RegExp]>([
  ['another backend serves it', { backend: 2 }, /shares its sessions/],
  ['another process uses its backend', { marked: false }, /shares its sessions/],
  ['it lost the lock', { holdsLock: false }, /no longer holds the lock/],
  ['the database became read-only', { readOnly: 'setting' }, /set to read-only/],
  ['a required replica is no longer waited for', { readOnly: 'asynchronous' }, /does not replicate synchronously/],
])('a leader steps down when %s', async (_, changed, reason) => {
  let state = IN_ORDER;
  const made = begin({ ...WELL, check: () => state });
  await until(made, 'leading');
  state = { ...IN_ORDER, ...changed };
  await made.pass(2.5);
  expect(status(made)).toBe('unavailable');
  expect(made.orchestrator.unavailableReason()).toMatch(reason);
});

test.each<[string, Partial<LockAttempt>, RegExp]>([
  ['a standby that was not promoted', { readOnly: 'standby', acquired: false }, /standby that has not been promoted/],
  ['a read-only database', { readOnly: 'setting', acquired: false }, /read-only/],
  ['asynchronous replicas', { readOnly: 'asynchronous', acquired: false }, /does not replicate synchronously/],
  ['a backend that already holds the lock', { holdsLock: true, acquired: false }, /shares its sessions/],
  ['a backend with the mark of another process', { marked: false, acquired: false }, /shares its sessions/],
])('it does not lead on %s, and says why', async (_, changed, reason) => {
  let attempt: LockAttempt = { ...ACQUIRED, ...changed };
  const made = begin({ ...WELL, tryLock: () => attempt });
  await until(made, 'unavailable');
  expect(made.orchestrator.unavailableReason()).toMatch(reason);
  await made.pass(60);
  expect(made.asked).not.toContain('countActiveRuns');
  // 0.1 + 0.2 + 0.4 + … up to 10 s each: a dozen attempts in a minute.
  expect(made.count('open')).toBeLessThan(14);
  expect(made.connections.slice(0, -1).every(({ destroyed }) => destroyed)).toBe(true);
  attempt = ACQUIRED;
  await made.pass(11);
  expect(status(made)).toBe('leading');
  expect(made.orchestrator.unavailableReason()).toBeNull();
});

test('a check before leading that throws keeps it from leading, with its message as the reason', async () => {
  const made = begin(without('beforeLeading'));
  await made.until('beforeLeading');
  made.refuse('beforeLeading', new Error('The master key is another one.'));
  await until(made, 'unavailable');
  expect(made.orchestrator.unavailableReason()).toBe('The master key is another one.');
  expect(made.connections[0]?.destroyed).toBe(true);
  expect(made.asked).not.toContain('countActiveRuns');
  await made.pass(0.25);
  await made.until('beforeLeading');
  made.answer('beforeLeading', undefined);
  await until(made, 'leading');
});

const FULL_DISK = Object.assign(new Error('could not extend file'), { code: '53100' });

/** Loses the session because the disk is full, and returns how long it takes to lead again. */
async function relead(made: Process): Promise<number> {
  made.connections.at(-1)?.lose(FULL_DISK);
  await until(made, 'unavailable');
  expect(made.orchestrator.unavailableReason()).toMatch(/SQLSTATE 53100/);
  const before = made.time.clock.now();
  for (let quarters = 0; status(made) !== 'leading'; quarters++) {
    if (quarters > 100) throw new Error('it never leads');
    await made.pass(0.25);
  }
  return made.time.clock.now() - before;
}

test('a leader that commits nothing waits longer each time, until it was in order for a minute', async () => {
  const made = begin(WELL);
  await until(made, 'leading');
  const waits: number[] = [];
  for (let times = 0; times < 10; times++) waits.push(await relead(made));
  // 100 ms, 200 ms, … at the next quarter of a second.
  expect(waits).toEqual([250, 250, 500, 1_000, 1_750, 3_250, 6_500, 10_000, 10_000, 10_000]);
  await made.pass(57.5);
  expect(await relead(made)).toBe(10_000);
  await made.pass(60);
  expect(await relead(made)).toBe(250);
});

test('the first commit proves a session, a refused one does not', async () => {
  const made = begin(without('commit'));
  const session = await acquireLeadership({
    connect: () => made.connect(),
    alarm: made.time.alarm,
    signal: new AbortController().signal,
    onStandby: () => undefined,
  });
  const refused = session.commit([]);
  made.refuse('commit', FULL_DISK);
  await expect(refused).rejects.toBe(FULL_DISK);
  expect(session.isProven).toBe(false);
  const committed = session.commit([]);
  made.answer('commit', undefined);
  await committed;
  await session.proven;
  expect(session.isProven).toBe(true);
  await session.release();
});
