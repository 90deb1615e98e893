import type { Mutation } from './mutations.ts';

const LEADERSHIP = 'runtime/leadership/leadership.ts';
const ORCHESTRATOR = 'runtime/embedded-orchestrator.ts';

/** Mutations by which a process leads although it must not, or does not lead or stop although it must. */
export const LEADING: readonly Mutation[] = [
  {
    name: 'a lock attempt has no time limit',
    file: LEADERSHIP,
    find: "await ask('the lock attempt', mayLead() ? connection.tryLock() : refrain(connection));",
    replace: 'await connection.tryLock();',
    caughtBy: ['liveness', 'shutdown'],
  },
  {
    name: 'connecting has no time limit',
    file: LEADERSHIP,
    find: "await ask('the connection', connection.open());",
    replace: 'await connection.open();',
    caughtBy: ['liveness', 'shutdown'],
  },
  {
    name: 'a session that is silent is kept',
    file: LEADERSHIP,
    find: 'if (silentNow >= SILENT_CHECKS) {',
    replace: 'if (silentNow < 0) {',
    caughtBy: ['leadership', 'liveness'],
  },
  {
    name: 'a session that another process shares counts as its own',
    file: LEADERSHIP,
    find: 'if (!state.marked || state.backend !== expected.backend || (state.holdsLock && !expected.holdsLock)) return SHARED;',
    replace: '',
    caughtBy: ['leadership', 'stream'],
  },
  {
    name: 'a process leads on a standby that is not promoted',
    file: LEADERSHIP,
    find: "if (readOnly === 'standby') return",
    replace: "if (readOnly === 'setting') return",
    caughtBy: ['leadership'],
  },
  {
    name: 'acquiring leadership resets the backoff',
    file: ORCHESTRATOR,
    find: "session.isProven ? 'fruitful' : 'fruitless'",
    replace: "'fruitful'",
    caughtBy: ['leadership'],
  },
  {
    name: 'a leadership that fails at once does not lengthen the wait',
    file: 'runtime/leadership/backoff.ts',
    find: "end === 'fruitless' ? this.#fruitless + 1 : 0;",
    replace: '1;',
    caughtBy: ['leadership'],
  },
  {
    name: 'a process that is asked to stop continues to lead',
    file: ORCHESTRATOR,
    find: 'const cause = await Promise.race([session.lost, this.#whenClosing]);',
    replace: 'const cause = await session.lost;',
    caughtBy: ['shutdown'],
  },
  {
    name: 'a process whose session is lost continues to lead',
    file: ORCHESTRATOR,
    find: 'const cause = await Promise.race([session.lost, this.#whenClosing]);',
    replace: 'const cause = await this.#whenClosing;',
    caughtBy: ['leadership', 'liveness', 'not-stuck', 'stream'],
  },
  {
    name: 'a session is not released when its leadership fails to start',
    file: ORCHESTRATOR,
    find: 'await session.release();',
    replace: '',
    caughtBy: ['liveness'],
  },
  {
    name: 'the runs of a lost leadership continue',
    file: ORCHESTRATOR,
    find: "runtime.abandon(new Error('the session of the leader ended'));",
    replace: '',
    caughtBy: ['answers', 'abort', 'slots', 'shutdown', 'log', 'replay', 'durability', 'credits', 'memory'],
  },
  {
    name: 'listeners do not learn that the leadership was lost',
    file: ORCHESTRATOR,
    find: 'this.#broadcaster.interrupt();',
    replace: '',
    caughtBy: ['stream'],
  },
  {
    name: 'it is not read again at a take which terms were survived',
    file: 'runtime/runs/recovery.ts',
    find: 'await terms.readAgain(runtime.leader);',
    replace: '',
    caughtBy: ['attempts'],
  },
  {
    name: 'a recovery whose reads fail is not tried again',
    file: 'runtime/runs/recovery.ts',
    find: 'await pause(alarm, RETRY_MS, signal);',
    replace: 'return { recovered: 0 };',
    // A run that was not recovered also keeps a row that says it drains.
    caughtBy: ['not-stuck', 'liveness', 'projection'],
  },
];
