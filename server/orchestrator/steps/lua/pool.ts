import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { compileLua } from './host.ts';
import { Claim, type LuaBatch, type LuaJob, type LuaReply, type LuaWorkerData } from './protocol.ts';
import { type LuaOutcome, MEMORY_LIMIT } from './sandbox.ts';

/** What became of a job: an outcome of the script, or why there is none. */
export type LuaRun = LuaOutcome | { ok: false; code: 'lua_aborted' | 'lua_crashed'; message: string; log: string[] };

type Pending = {
  job: LuaJob;
  settle: (run: LuaRun) => void;
  signal: AbortSignal | undefined;
  onAbort: (() => void) | undefined;
  /** Where it is worked on; undefined while it waits. */
  place: { slot: Slot; index: number } | undefined;
  settled: boolean;
};

type Slot = {
  worker: Worker;
  /** The batch under way, undefined when idle. */
  batch: { pending: Pending[]; claims: Int32Array; taken: number; takenAt: number } | undefined;
};

const LARGEST_BATCH = 32;
/** A batch that made no progress for this long gives back what it has not begun, in ms. */
const STALLED_AFTER = 10;

const ABORTED: LuaRun = { ok: false, code: 'lua_aborted', message: 'the script was cancelled', log: [] };
const CRASHED: LuaRun = { ok: false, code: 'lua_crashed', message: 'the Lua worker ended unexpectedly', log: [] };

/**
 * Worker threads that run Lua scripts (engine.md: steps run off the event loop). Started when needed. Scripts have no
 * side effects, so a job that shared its worker with one that had to be killed is simply run again.
 */
export class LuaPool {
  readonly #size: number;
  readonly #memoryLimit: number;
  readonly #slots = new Set<Slot>();
  #module: WebAssembly.Module | undefined;
  #queue: Pending[] = [];
  #watch: NodeJS.Timeout | undefined;
  #closed = false;

  /** `workers`: 0 = one per core, at least 2, so that one endless script never stops the others. */
  constructor(options: { workers?: number; memoryLimit?: number } = {}) {
    this.#size = options.workers || Math.max(2, availableParallelism());
    this.#memoryLimit = options.memoryLimit ?? MEMORY_LIMIT;
  }

  /**
   * Runs a prepared script; `data` is `LuaData` as JSON text. Never rejects: an abort kills the worker if the script
   * has begun and answers `lua_aborted`.
   */
  run(script: string, data: string, signal?: AbortSignal): Promise<LuaRun> {
    return this.#submit({ script, data }, signal);
  }

  /** Compiles a prepared script without running it. */
  check(script: string): Promise<LuaRun> {
    return this.#submit({ script, data: null }, undefined);
  }

  /** Ends all workers; what runs or waits is answered `lua_aborted`. */
  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#watch);
    for (const pending of this.#queue.splice(0)) this.#settle(pending, ABORTED);
    const slots = [...this.#slots];
    this.#slots.clear();
    for (const slot of slots) for (const pending of slot.batch?.pending ?? []) this.#settle(pending, ABORTED);
    await Promise.all(slots.map(slot => slot.worker.terminate()));
  }

  #submit(job: LuaJob, signal: AbortSignal | undefined): Promise<LuaRun> {
    if (this.#closed || signal?.aborted) return Promise.resolve(ABORTED);
    return new Promise(settle => {
      const pending: Pending = { job, settle, signal, onAbort: undefined, place: undefined, settled: false };
      if (signal) {
        pending.onAbort = () => this.#abort(pending);
        signal.addEventListener('abort', pending.onAbort, { once: true });
      }
      this.#queue.push(pending);
      // One turn later, so that scripts which become ready together share a message.
      if (this.#queue.length === 1) queueMicrotask(() => this.#dispatch());
    });
  }

  #settle(pending: Pending, run: LuaRun): void {
    if (pending.settled) return;
    pending.settled = true;
    pending.place = undefined;
    if (pending.onAbort) pending.signal?.removeEventListener('abort', pending.onAbort);
    pending.settle(run);
  }

  #abort(pending: Pending): void {
    if (pending.settled) return;
    const { place } = pending;
    this.#settle(pending, ABORTED);
    if (!place) {
      this.#queue = this.#queue.filter(other => other !== pending);
      return;
    }
    const { batch } = place.slot;
    if (!batch) return;
    if (Atomics.compareExchange(batch.claims, place.index, Claim.free, Claim.withdrawn) === Claim.free) return;
    this.#retire(place.slot);
    this.#dispatch();
  }

  /** Kills a worker and puts what it had not answered back to the front of the queue. */
  #retire(slot: Slot): void {
    this.#slots.delete(slot);
    void slot.worker.terminate();
    this.#requeue(slot.batch?.pending ?? []);
    slot.batch = undefined;
  }

  #requeue(list: readonly Pending[]): void {
    const again = list.filter(pending => !pending.settled);
    for (const pending of again) pending.place = undefined;
    this.#queue.unshift(...again);
  }

  #start(): Slot {
    this.#module ??= compileLua();
    const data: LuaWorkerData = { module: this.#module, memoryLimit: this.#memoryLimit };
    // No environment and no flags: a script could not reach them anyway, and what is not there cannot leak.
    const worker = new Worker(new URL('./worker.ts', import.meta.url), {
      workerData: data,
      env: {},
      execArgv: [],
      name: 'lua',
      resourceLimits: { maxOldGenerationSizeMb: 256 },
    });
    const slot: Slot = { worker, batch: undefined };
    worker.unref();
    worker.on('message', (reply: LuaReply) => this.#reply(slot, reply));
    worker.on('error', () => this.#crashed(slot));
    worker.on('exit', () => this.#crashed(slot));
    this.#slots.add(slot);
    return slot;
  }

  /** A worker that ended by itself: the job it was at is answered, so that one bad script cannot crash worker after worker. */
  #crashed(slot: Slot): void {
    if (!this.#slots.delete(slot)) return;
    const { batch } = slot;
    slot.batch = undefined;
    if (!batch) return;
    const began = batch.pending.findIndex(
      (pending, index) => !pending.settled && Atomics.load(batch.claims, index) === Claim.taken,
    );
    const culprit = batch.pending[began === -1 ? batch.pending.findIndex(pending => !pending.settled) : began];
    if (culprit) this.#settle(culprit, CRASHED);
    this.#requeue(batch.pending);
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
    this.#dispatch();
  }

  #dispatch(): void {
    if (this.#closed) return;
    for (const slot of this.#slots) {
      if (this.#queue.length === 0) return;
      if (!slot.batch) this.#send(slot);
    }
    while (this.#queue.length > 0 && this.#slots.size < this.#size) this.#send(this.#start());
  }

  #send(slot: Slot): void {
    const count = Math.min(LARGEST_BATCH, Math.ceil(this.#queue.length / this.#size));
    const pending = this.#queue.splice(0, count);
    const claims = new Int32Array(new SharedArrayBuffer(count * 4));
    for (const [index, item] of pending.entries()) item.place = { slot, index };
    slot.batch = { pending, claims, taken: 0, takenAt: 0 };
    slot.worker.ref();
    const message: LuaBatch = { jobs: pending.map(item => item.job), claims };
    slot.worker.postMessage(message);
    if (count > 1) this.#watchStalls();
  }

  /** Looks after batches of several jobs while there are any: a long script must not hold up those behind it. */
  #watchStalls(): void {
    this.#watch ??= setInterval(() => {
      const now = performance.now();
      for (const { batch } of this.#slots) if (batch && this.#isStalled(batch, now)) this.#withdraw(batch);
      this.#dispatch();
      if ([...this.#slots].some(({ batch }) => batch && batch.pending.length > 1)) return;
      clearInterval(this.#watch);
      this.#watch = undefined;
    }, STALLED_AFTER).unref();
  }

  /** Whether the worker is at one and the same job since a while. One that has not begun (it starts, it waits for a core) is not stalled. */
  #isStalled(batch: NonNullable<Slot['batch']>, now: number): boolean {
    const taken = batch.claims.reduce((count, claim) => count + (claim === Claim.taken ? 1 : 0), 0);
    if (taken !== batch.taken) {
      batch.taken = taken;
      batch.takenAt = now;
      return false;
    }
    return taken > 0 && now - batch.takenAt >= STALLED_AFTER;
  }

  #withdraw(batch: NonNullable<Slot['batch']>): void {
    const back = batch.pending.filter(
      (pending, index) =>
        !pending.settled && Atomics.compareExchange(batch.claims, index, Claim.free, Claim.withdrawn) === Claim.free,
    );
    this.#requeue(back);
  }
}
