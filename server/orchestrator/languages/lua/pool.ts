import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { compileCacheOfThisProcess } from '../../../platform/compile-cache.ts';
import type { Wanted } from './expression-job.ts';
import { setThreadPriority } from './priority.ts';
import { Claim, type LuaBatch, type LuaJob, type LuaReply, type LuaWorkerData } from './protocol.ts';
import { TenantQueue } from './queue.ts';
import { type LuaBinary, type LuaData, type LuaOutcome, MEMORY_LIMIT, prepareLua } from './sandbox.ts';
import { nextTurn, type Turn } from './turns.ts';
import { jobOf, type MakeData, type Work } from './work.ts';

/** The result of a job: an outcome of the script, or why there is none. */
export type LuaRun =
  | LuaOutcome
  | { ok: false; code: 'lua_aborted' | 'lua_crashed'; message: string; details?: undefined; log: string[] };

export type LuaRunOptions = {
  /** The tenant of the script: workers are shared fairly between tenants. */
  tenant: string;
  signal?: AbortSignal;
  /** Called once, within ~10 ms after the script began; not at all for one that ended before. */
  began?: () => void;
};

type Pending = {
  work: Work;
  options: LuaRunOptions;
  settle: (run: LuaRun) => void;
  reject: (error: unknown) => void;
  onAbort: (() => void) | undefined;
  /** Where it is worked on; undefined while it waits. */
  place: { slot: Slot; batch: Batch; index: number } | undefined;
  began: boolean;
  settled: boolean;
  /** How often its worker was taken away for another tenant's. */
  displaced: number;
};

/** Jobs of one tenant that a worker was handed, which it takes in their order. */
type Batch = {
  tenant: string;
  pending: Pending[];
  claims: Int32Array;
  /** The job it was last seen at, -1 before the first, and since when. */
  at: number;
  atSince: number;
  beganAt: number;
  long: boolean;
  /** How often its first job was displaced; displaced jobs are sent one at a time. */
  displaced: number;
  slot: Slot;
};

type Slot = {
  worker: Worker;
  /** The current batch, undefined when idle. */
  batch: Batch | undefined;
  readonly thread: Int32Array;
  /** The worker runs a long script, and gets only the CPU that nothing else wants. */
  isLow: boolean;
};

const MAX_BATCH_SIZE = 32;
/** A batch is full when what its scripts are given exceeds this, in characters: a worker's heap holds 256 MiB. */
const FULL_BATCH = 4 * 1024 * 1024;
/**
 * How often the pool checks its workers, in ms; also how long a job may take before those behind it return to the
 * queue.
 */
const LOOK_EVERY = 10;
/** A batch that runs for longer than this, in ms, is long (below). */
const LONG_AFTER = 100;

/** A script that has run for longer than this, in ms, gets only the CPU that nothing else wants. */
const LOW_AFTER = 500;

/** The length of what a script is given, in characters. */
export function sizeOf({ values, input = '', steps = {}, errors = {}, run = '', item = '' }: LuaData): number {
  const texts = [...values, ...Object.values(steps), ...Object.values(errors)];
  return texts.reduce((sum, text) => sum + text.length, input.length + run.length + item.length);
}

const ABORTED: LuaRun = { ok: false, code: 'lua_aborted', message: 'the script was cancelled', log: [] };
const CRASHED: LuaRun = { ok: false, code: 'lua_crashed', message: 'the Lua worker ended unexpectedly', log: [] };

/**
 * Worker threads that run Lua scripts, and CEL expressions that are not small. Started when needed. Neither has
 * side effects, so a job that shared its worker with one that had to be killed is simply run again.
 *
 * Tenants share the workers fairly (turns.ts), so no number of tenants with endless scripts can shut another one out.
 */
export class LuaPool {
  readonly #size: number;
  readonly #memoryLimit: number;
  readonly #slots = new Set<Slot>();
  readonly #fresh = new TenantQueue<Pending>();
  readonly #displaced = new TenantQueue<Pending>();
  #binary: LuaBinary | undefined;
  #dispatches = false;
  #watch: NodeJS.Timeout | undefined;
  #closed = false;

  /**
   * `workers`: 0 = one per core, at least 2, so that one long script does not force other scripts to wait for a new
   * thread.
   */
  constructor(options: { workers?: number; memoryLimit?: number } = {}) {
    this.#size = options.workers || Math.max(2, availableParallelism());
    this.#memoryLimit = options.memoryLimit ?? MEMORY_LIMIT;
  }

  /** Worker threads alive. */
  get workers(): number {
    return this.#slots.size;
  }

  /** Jobs that wait for a worker. */
  get waiting(): number {
    return this.#fresh.size + this.#displaced.size;
  }

  /**
   * Runs a prepared script. An abort kills the worker if the script has begun and answers `lua_aborted`. Rejects only with
   * what `data` throws, which is called when the script's turn comes, and again where it has to be run again.
   */
  run(script: string, data: MakeData, options: LuaRunOptions): Promise<LuaRun> {
    return this.#submit({ language: 'lua', script, data }, options);
  }

  /** Compiles a prepared script without running it. All checks count as one tenant's. */
  check(script: string): Promise<LuaRun> {
    return this.#submit({ language: 'lua', script, data: null }, { tenant: '' });
  }

  /** Evaluates a CEL expression that is not small; `result` is what `evaluateApart` says. Otherwise like `run`. */
  evaluate(script: string, data: MakeData, options: LuaRunOptions & { wants?: Wanted }): Promise<LuaRun> {
    return this.#submit({ language: 'cel', script, data, wants: options.wants ?? 'verdict' }, options);
  }

  /** Ends all workers; what runs or waits is answered `lua_aborted`. */
  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#watch);
    for (const pending of [...this.#fresh.clear(), ...this.#displaced.clear()]) this.#settle(pending, ABORTED);
    const slots = [...this.#slots];
    this.#slots.clear();
    for (const slot of slots) for (const pending of slot.batch?.pending ?? []) this.#settle(pending, ABORTED);
    await Promise.all(slots.map(slot => slot.worker.terminate()));
  }

  #submit(work: Work, options: LuaRunOptions): Promise<LuaRun> {
    const { tenant, signal } = options;
    if (this.#closed || signal?.aborted) return Promise.resolve(ABORTED);
    return new Promise((settle, reject) => {
      const pending: Pending = {
        work,
        options,
        settle,
        reject,
        onAbort: undefined,
        place: undefined,
        began: false,
        settled: false,
        displaced: 0,
      };
      if (signal) {
        pending.onAbort = () => this.#abort(pending);
        signal.addEventListener('abort', pending.onAbort, { once: true });
      }
      this.#fresh.push(tenant, pending);
      if (this.#dispatches) return;
      // One turn later, so that scripts which become ready together share a message.
      this.#dispatches = true;
      queueMicrotask(() => this.#dispatch());
    });
  }

  #settle(pending: Pending, run: LuaRun | { thrown: unknown }): void {
    if (pending.settled) return;
    pending.settled = true;
    if (!pending.place) this.#queueOf(pending).remove(pending.options.tenant, pending);
    pending.place = undefined;
    if (pending.onAbort) pending.options.signal?.removeEventListener('abort', pending.onAbort);
    if ('thrown' in run) pending.reject(run.thrown);
    else pending.settle(run);
  }

  #abort(pending: Pending): void {
    if (pending.settled) return;
    const { place } = pending;
    this.#settle(pending, ABORTED);
    if (!place) return;
    const { slot, batch, index } = place;
    if (Atomics.compareExchange(batch.claims, index, Claim.free, Claim.withdrawn) === Claim.free) return;
    // The script has ended and only its answer is missing: the worker runs another one already.
    if (index < batch.claims.lastIndexOf(Claim.taken)) return;
    this.#retire(slot);
    this.#dispatch();
  }

  /** Kills a worker and puts what it had not answered back to the front of its tenant's queue. */
  #retire(slot: Slot): void {
    this.#slots.delete(slot);
    void slot.worker.terminate();
    const { batch } = slot;
    slot.batch = undefined;
    if (batch) this.#requeue(batch, batch.pending);
  }

  /** Moves those of these jobs that still belong to the batch back to the queue. */
  #requeue(batch: Batch, list: readonly Pending[]): void {
    const again = list.filter(pending => pending.place?.batch === batch);
    for (const pending of again) pending.place = undefined;
    this.#fresh.unshift(
      batch.tenant,
      again.filter(pending => pending.displaced === 0),
    );
    for (const pending of again) if (pending.displaced > 0) this.#displaced.push(batch.tenant, pending);
  }

  #queueOf(pending: Pending): TenantQueue<Pending> {
    return pending.displaced > 0 ? this.#displaced : this.#fresh;
  }

  /** Takes the worker from a script that has used its quantum; the script starts again when its turn comes. */
  #displace(batch: Batch): void {
    const pending = batch.pending[batch.at];
    if (pending) pending.displaced += 1;
    this.#retire(batch.slot);
  }

  #start(): Slot {
    this.#binary ??= prepareLua();
    const thread = new Int32Array(new SharedArrayBuffer(4));
    const data: LuaWorkerData = { ...this.#binary, memoryLimit: this.#memoryLimit, thread };
    // Nothing of the environment, and no flags: a script could not reach them anyway, and what is not there cannot leak.
    const worker = new Worker(new URL('./worker.ts', import.meta.url), {
      workerData: data,
      env: compileCacheOfThisProcess(),
      execArgv: [],
      name: 'lua',
      resourceLimits: { maxOldGenerationSizeMb: 256 },
    });
    const slot: Slot = { worker, batch: undefined, thread, isLow: false };
    worker.unref();
    worker.on('message', (reply: LuaReply) => this.#reply(slot, reply));
    worker.on('error', () => this.#crashed(slot));
    worker.on('exit', () => this.#crashed(slot));
    this.#slots.add(slot);
    return slot;
  }

  /** Handles a worker that crashed: its job is answered, so that one bad script cannot crash worker after worker. */
  #crashed(slot: Slot): void {
    if (!this.#slots.delete(slot)) return;
    const { batch } = slot;
    slot.batch = undefined;
    if (!batch) return;
    // The last one taken: those taken before it may have ended without being answered yet.
    const at = Math.max(0, batch.claims.lastIndexOf(Claim.taken));
    const culprit = batch.pending.find((pending, index) => index >= at && pending.place?.batch === batch);
    if (culprit) this.#settle(culprit, CRASHED);
    this.#requeue(batch, batch.pending);
    this.#dispatch();
  }

  #reply(slot: Slot, reply: LuaReply): void {
    const { batch } = slot;
    if (!batch) return;
    for (const [index, outcome] of reply.outcomes) {
      const pending = batch.pending[index];
      if (pending) this.#settle(pending, outcome);
    }
    if (!reply.done) return;
    slot.batch = undefined;
    slot.worker.unref();
    if (slot.isLow && !setThreadPriority(slot.thread[0] ?? 0, 'normal')) this.#retire(slot);
    slot.isLow = false;
    this.#dispatch();
  }

  #dispatch(): void {
    this.#dispatches = false;
    if (this.#closed) return;
    for (let turn = this.#next(); turn !== undefined; turn = this.#next()) {
      if (turn.inPlaceOf) this.#displace(turn.inPlaceOf);
      this.#send(turn);
    }
  }

  #next(): Turn<Batch> | undefined {
    const queues = { fresh: this.#fresh, displaced: this.#displaced };
    return nextTurn(this.#batches(), queues, { size: this.#size, now: performance.now() });
  }

  #batches(): Batch[] {
    return [...this.#slots].flatMap(slot => slot.batch ?? []);
  }

  /** Ends workers beside the pool's size. Only when all are idle: to start one costs ~200 ms of CPU, and just then there is none. */
  #endExtra(): void {
    for (const slot of this.#slots) if (this.#slots.size > this.#size) this.#retire(slot);
  }

  /** Takes what makes up the tenant's next batch. May be empty: jobs whose data cannot be made are answered. */
  #gather({ tenant, isDisplaced }: Turn<Batch>): { pending: Pending[]; jobs: LuaJob[] } {
    const queue = isDisplaced ? this.#displaced : this.#fresh;
    const taken = queue.take(tenant, this.#size, isDisplaced ? 1 : MAX_BATCH_SIZE);
    const pending: Pending[] = [];
    const jobs: LuaJob[] = [];
    let size = 0;
    for (const [index, item] of taken.entries()) {
      if (size > FULL_BATCH) {
        queue.unshift(tenant, taken.slice(index));
        break;
      }
      try {
        const job = jobOf(item.work);
        size += job.data ? sizeOf(job.data) : job.script.length;
        jobs.push(job);
        pending.push(item);
      } catch (thrown) {
        this.#settle(item, { thrown });
      }
    }
    return { pending, jobs };
  }

  #send(turn: Turn<Batch>): void {
    const { pending, jobs } = this.#gather(turn);
    if (jobs.length === 0) return;
    const slot = [...this.#slots].find(({ batch }) => !batch) ?? this.#start();
    const claims = new Int32Array(new SharedArrayBuffer(pending.length * 4));
    const { tenant } = turn;
    const displaced = pending[0]?.displaced ?? 0;
    const batch: Batch = { tenant, pending, claims, at: -1, atSince: 0, beganAt: 0, long: false, displaced, slot };
    for (const [index, item] of pending.entries()) item.place = { slot, batch, index };
    slot.batch = batch;
    slot.worker.ref();
    const message: LuaBatch = { jobs, claims };
    slot.worker.postMessage(message);
    this.#watch ??= setInterval(() => this.#look(), LOOK_EVERY).unref();
  }

  /** Looks at what the workers are at while there is work. Asking them would cost a message for each script. */
  #look(): void {
    const now = performance.now();
    const batches = this.#batches();
    for (const batch of batches) this.#observe(batch, now);
    if (batches.length > 0) this.#dispatch();
    else {
      clearInterval(this.#watch);
      this.#watch = undefined;
      this.#endExtra();
    }
  }

  #observe(batch: Batch, now: number): void {
    const at = batch.claims.lastIndexOf(Claim.taken);
    // A worker that has not begun (it starts, it waits for a core) is neither stalled nor long.
    if (at === -1) return;
    if (batch.at === -1) batch.beganAt = now;
    batch.long = now - batch.beganAt >= LONG_AFTER;
    if (at === batch.at) {
      if (now - batch.atSince >= LOOK_EVERY) this.#withdraw(batch);
      if (now - batch.atSince >= LOW_AFTER && !batch.slot.isLow)
        batch.slot.isLow = setThreadPriority(batch.slot.thread[0] ?? 0, 'low');
      return;
    }
    batch.at = at;
    batch.atSince = now;
    const pending = batch.pending[at];
    if (!pending || pending.began || pending.settled) return;
    pending.began = true;
    pending.options.began?.();
  }

  /** A long script must not hold up those behind it. */
  #withdraw(batch: Batch): void {
    const back = batch.pending.filter(
      (_, index) => Atomics.compareExchange(batch.claims, index, Claim.free, Claim.withdrawn) === Claim.free,
    );
    this.#requeue(batch, back);
  }
}
