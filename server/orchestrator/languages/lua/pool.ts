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

/** The result of a job: the outcome of the script, or the reason why it has no outcome. */
export type LuaRun =
  | LuaOutcome
  | { ok: false; code: 'lua_aborted' | 'lua_crashed'; message: string; details?: undefined; log: string[] };

export type LuaRunOptions = {
  /** The tenant of the script: workers are shared fairly between tenants. */
  tenant: string;
  signal?: AbortSignal;
  /** Called once, within ~10 ms after the script began. Not called if the script ended before. */
  began?: () => void;
};

type Pending = {
  work: Work;
  options: LuaRunOptions;
  settle: (run: LuaRun) => void;
  reject: (error: unknown) => void;
  onAbort: (() => void) | undefined;
  /** The worker that has the job, and the position in its batch; undefined while the job waits. */
  place: { slot: Slot; batch: Batch; index: number } | undefined;
  began: boolean;
  settled: boolean;
  /** How often the job lost its worker to another tenant's job. */
  displaced: number;
};

/** Jobs of one tenant that were sent to a worker, which runs them in order. */
type Batch = {
  tenant: string;
  pending: Pending[];
  claims: Int32Array;
  /** The index of the job that the worker was last seen running (-1 before the first), and the time since when. */
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
  /**
   * Whether the worker runs a long script at low priority, so that it gets only CPU time that no other thread wants.
   */
  isLow: boolean;
};

const MAX_BATCH_SIZE = 32;
/** A batch is full when the data of its scripts exceeds this, in characters: a worker's heap holds 256 MiB. */
const FULL_BATCH = 4 * 1024 * 1024;
/**
 * How often the pool checks its workers, in ms; also the maximum time that a job may run before the jobs after it return to
 * the queue.
 */
const LOOK_EVERY = 10;
/** A batch that runs for longer than this, in ms, is long (see turns.ts). */
const LONG_AFTER = 100;

/** A script that has run for longer than this, in ms, gets only CPU time that no other thread wants. */
const LOW_AFTER = 500;

/** Returns the size of a script's data, in characters. */
export function sizeOf({ values, input = '', steps = {}, errors = {}, run = '', item = '' }: LuaData): number {
  const texts = [...values, ...Object.values(steps), ...Object.values(errors)];
  return texts.reduce((sum, text) => sum + text.length, input.length + run.length + item.length);
}

const ABORTED: LuaRun = { ok: false, code: 'lua_aborted', message: 'the script was cancelled', log: [] };
const CRASHED: LuaRun = { ok: false, code: 'lua_crashed', message: 'the Lua worker ended unexpectedly', log: [] };

/**
 * Worker threads that run Lua scripts and CEL expressions that are not small. They are started when needed. Scripts and
 * expressions have no side effects, so a job whose worker was killed because of another job is simply run again.
 *
 * Tenants share the workers fairly (turns.ts), so no number of tenants with endless scripts can exclude another tenant.
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
   * `workers`: 0 = one per core, but at least 2, so that one long script does not force other scripts to wait for a new
   * thread.
   */
  constructor(options: { workers?: number; memoryLimit?: number } = {}) {
    this.#size = options.workers || Math.max(2, availableParallelism());
    this.#memoryLimit = options.memoryLimit ?? MEMORY_LIMIT;
  }

  /** The number of live worker threads. */
  get workers(): number {
    return this.#slots.size;
  }

  /** The number of jobs that wait for a worker. */
  get waiting(): number {
    return this.#fresh.size + this.#displaced.size;
  }

  /**
   * Runs a prepared script. An abort kills the worker if the script has begun, and the result is `lua_aborted`. `data`
   * is called when the script's turn comes, and again each time the script has to be run again. Rejects only with an
   * error that `data` throws.
   */
  run(script: string, data: MakeData, options: LuaRunOptions): Promise<LuaRun> {
    return this.#submit({ language: 'lua', script, data }, options);
  }

  /** Compiles a prepared script without running it. For fairness, all checks count as one tenant. */
  check(script: string): Promise<LuaRun> {
    return this.#submit({ language: 'lua', script, data: null }, { tenant: '' });
  }

  /** Evaluates a CEL expression that is not small. `result` is that of `evaluateApart`. Otherwise like `run`. */
  evaluate(script: string, data: MakeData, options: LuaRunOptions & { wants?: Wanted }): Promise<LuaRun> {
    return this.#submit({ language: 'cel', script, data, wants: options.wants ?? 'verdict' }, options);
  }

  /** Ends all workers. Running and waiting jobs are answered with `lua_aborted`. */
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
      // Waits one turn of the event loop, so that scripts which become ready together share a message.
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
    // The script has ended and only its answer is missing: the worker already runs the next one.
    if (index < batch.claims.lastIndexOf(Claim.taken)) return;
    this.#retire(slot);
    this.#dispatch();
  }

  /** Kills a worker and returns its unanswered jobs to the front of their tenant's queue. */
  #retire(slot: Slot): void {
    this.#slots.delete(slot);
    void slot.worker.terminate();
    const { batch } = slot;
    slot.batch = undefined;
    if (batch) this.#requeue(batch, batch.pending);
  }

  /** Returns the jobs in `list` that still belong to the batch to the queue. */
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

  /** Takes the worker from a script that has used up its quantum. The script starts again when its turn comes. */
  #displace(batch: Batch): void {
    const pending = batch.pending[batch.at];
    if (pending) pending.displaced += 1;
    this.#retire(batch.slot);
  }

  #start(): Slot {
    this.#binary ??= prepareLua();
    const thread = new Int32Array(new SharedArrayBuffer(4));
    const data: LuaWorkerData = { ...this.#binary, memoryLimit: this.#memoryLimit, thread };
    // Passes no environment and no flags: scripts could not reach them anyway, and data that is absent cannot leak.
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

  /**
   * Handles the crash of a worker: its current job is answered, so that one bad script cannot crash worker after
   * worker.
   */
  #crashed(slot: Slot): void {
    if (!this.#slots.delete(slot)) return;
    const { batch } = slot;
    slot.batch = undefined;
    if (!batch) return;
    // The last job that the worker took: earlier ones may have ended without being answered yet.
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

  /** Ends the workers beyond the pool's size, but only when all are idle: restarting one costs ~200 ms of CPU time. */
  #endExtra(): void {
    for (const slot of this.#slots) if (this.#slots.size > this.#size) this.#retire(slot);
  }

  /** Takes the jobs of the tenant's next batch. The batch may be empty: jobs whose data cannot be made are answered. */
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

  /** Checks what the workers are running, while there is work. Asking them would cost a message for each script. */
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
    // A worker that has not taken a job yet (it is starting, or waits for a core) is neither stalled nor long.
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

  /** Returns the jobs behind a long script to the queue, so that they do not wait for it. */
  #withdraw(batch: Batch): void {
    const back = batch.pending.filter(
      (_, index) => Atomics.compareExchange(batch.claims, index, Claim.free, Claim.withdrawn) === Claim.free,
    );
    this.#requeue(batch, back);
  }
}
