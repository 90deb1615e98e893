import type { Mutation } from './mutations.ts';

const QUEUE = 'log/commit-queue.ts';
const TURNS = 'runtime/runs/turn-queue.ts';
const PACE = 'runtime/runs/paced-turns.ts';
const RUNTIME = 'runtime/runtime.ts';
/** Without faults, so that many entries wait at the same time. */
const LARGE_ENDS = { largeEnds: 100, faults: 0 };

/** Ways to break how tenants share the queue of the log, its batches, and the turns of the event loop. */
export const SHARES: readonly Mutation[] = [
  {
    name: 'a tenant takes the last free rows of the queue',
    file: QUEUE,
    find: 'rows < queuedRows - this.#rows)',
    replace: 'this.#rows < queuedRows)',
    caughtBy: ['shares'],
    knobs: LARGE_ENDS,
  },
  {
    name: 'a tenant decides although its share is used up',
    file: TURNS,
    find: 'if (!this.#host.log.hasRoom(tenant.id)) {',
    replace: 'if (this.#visits < 0) {',
    caughtBy: ['shares'],
    knobs: LARGE_ENDS,
  },
  {
    name: 'callers of all tenants are refused when one has used up its share',
    file: RUNTIME,
    find: 'if (!this.#log.hasRoom(tenantId)) throw tooManyWrites();',
    replace: 'if (this.#log.backlogRows >= 15) throw tooManyWrites();',
    caughtBy: ['shares'],
    knobs: LARGE_ENDS,
  },
  {
    name: 'a stop is refused when the share of its tenant is used up',
    file: RUNTIME,
    find: 'const isRelieving = RELIEVING.has(command.type);',
    replace: 'const isRelieving = RELIEVING.size === 0;',
    caughtBy: ['answers', 'durability'],
    knobs: { ...LARGE_ENDS, commands: 16 },
  },
  {
    name: 'a tenant fills a batch while others wait',
    file: QUEUE,
    find: 'if (this.isShared && this.#leftOf(tenant) <= 0) {',
    replace: 'if (this.#batches < 0) {',
    caughtBy: ['shares'],
    knobs: LARGE_ENDS,
  },
  {
    name: 'a tenant decides all its runs at once while others are present',
    file: TURNS,
    find: 'return tenant.appended >= this.#quantum &&',
    replace: 'return tenant.appended >= 10 * this.#quantum &&',
    caughtBy: ['shares'],
    knobs: LARGE_ENDS,
  },
  {
    name: 'a turn of the event loop decides more than a batch takes',
    file: TURNS,
    find: 'while (this.#appended < this.#limit) {',
    replace: 'while (this.#appended < 10 * this.#limit) {',
    caughtBy: ['shares'],
    knobs: LARGE_ENDS,
  },
  {
    name: 'a run that has left memory has another turn',
    file: RUNTIME,
    find: 'this.#turns.delete(run);',
    replace: '',
    caughtBy: ['memory'],
    knobs: LARGE_ENDS,
  },
  {
    name: 'runs that wait behind the quantum of their tenant are not visited again',
    file: TURNS,
    find: "tenant.state = 'idle';\n      this.#enter(tenant);\n      this.visitSoon();",
    replace: '',
    caughtBy: ['not-stuck', 'answers', 'liveness', 'memory', 'slots', 'fairness'],
    knobs: LARGE_ENDS,
  },
  {
    name: 'work that takes long has no more turns after a rest',
    file: PACE,
    find: 'this.#services.alarm(restMs, () => this.#turn());',
    replace: '',
    caughtBy: ['not-stuck', 'answers', 'liveness', 'memory', 'slots', 'fairness'],
    knobs: LARGE_ENDS,
  },
];
