import { evolve, newRun, type RunEvent, type RunState } from '../../core/index.ts';
import type { LoggedRun, LogReader, RunRead } from '../../log/index.ts';
import type { RunIdentity } from '../../turn/turn.ts';
import type { CreditAccount } from '../credits/credit-account.ts';
import type { CreditMeter } from '../credits/credit-meter.ts';
import type { RunResources } from '../memory/run-resources.ts';
import type { GraphCache } from './graph-cache.ts';
import type { LoadSuspects } from './load-suspects.ts';
import type { RunKey } from './run-host.ts';
import { TenantTurns } from './tenant-turns.ts';

/** A run, folded, with its workspace's credits: nothing of a run starts or is charged before they are known. */
export type LoadedRun = {
  identity: RunIdentity;
  state: RunState;
  events: readonly RunEvent[];
  account: CreditAccount;
  /** Whether its row lacks the progress of its last events. */
  isBehind: boolean;
  /** Why the run is to be ended immediately, or null. If set, `state` has none of the run's values. */
  quarantined: string | null;
};

/** 100 runs of some 50 events are a read of about 1 MB. One read at a time leaves the pool to the API. */
const BATCH = 100;
/** A batch ends with the run that exceeds this size. Parsed, it may take twenty times as much memory. */
const BATCH_BYTES = 2 * 1024 * 1024;

/** The steps and events after which the event loop has a turn: a batch may have 100 runs of 2,000 steps. */
const FOLDED_AT_ONCE = 1_000;

/** The log of this run cannot be folded, now or later. The database is not the cause. */
export class RunUnreadable extends Error {}

type Wanted = RunKey & {
  /** A caller waits for it. */
  isUrgent: boolean;
  resolve: (run: LoadedRun | null) => void;
  reject: (error: unknown) => void;
};

/** A suspect may need all the memory, and no caller waits until other runs have released it. */
const noRoom = () => new Error('there is no memory to load a run during whose loading the service may have died');

type Parts = {
  meter: CreditMeter;
  resources: Pick<RunResources, 'memory' | 'ownTurn'>;
  suspects: LoadSuspects;
};

/**
 * Folds runs from the log. Requests that arrive at about the same time are read together. Runs that a caller waits for
 * do not queue behind those that are loaded in the background, which are read only while there is memory for them. The
 * tenants whose runs wait take turns.
 */
export class Loader {
  readonly #services: Parts & { reader: LogReader; graphs: GraphCache };
  readonly #urgent = new Lane(() => void this.#readUrgent());
  readonly #background = new Lane(() => void this.#readBackground());
  #abandoned: { cause: unknown } | null = null;

  constructor({ reader, graphs }: { reader: LogReader; graphs: GraphCache }, parts: Parts) {
    this.#services = { reader, graphs, ...parts };
  }

  /**
   * Returns the folded run, or null if it does not exist. Rejects with the database's error, RunUnreadable,
   * or the cause of `abandon`.
   */
  load({ runId, tenantId }: RunKey, isUrgent: boolean): Promise<LoadedRun | null> {
    // A caller that waited for a start meanwhile may ask this late, and a shutdown waits for its answer.
    if (this.#abandoned !== null) return Promise.reject(this.#abandoned.cause);
    const { suspects, resources } = this.#services;
    const isSuspect = suspects.has(runId);
    if (isUrgent && isSuspect && !resources.memory.hasRoom) return Promise.reject(noRoom());
    return new Promise((resolve, reject) => {
      const lane = isUrgent && !isSuspect ? this.#urgent : this.#background;
      lane.add({ runId, tenantId, isUrgent, resolve, reject });
    });
  }

  /** Call this when a caller waits for a run that is being loaded in the background. */
  prioritize(runId: string): void {
    const { suspects, resources } = this.#services;
    const wanted = this.#background.remove(runId);
    if (wanted === undefined) return;
    if (!suspects.has(runId)) this.#urgent.add(wanted);
    else if (resources.memory.hasRoom) this.#background.add({ ...wanted, isUrgent: true });
    else wanted.reject(noRoom());
  }

  /** Rejects all waiting callers: if the database hangs, they would wait longer than permitted. */
  abandon(cause: unknown): void {
    this.#abandoned = { cause };
    for (const lane of [this.#urgent, this.#background]) lane.abandon(cause);
  }

  async #readUrgent(): Promise<void> {
    const lane = this.#urgent;
    for (;;) {
      const batch = lane.next(BATCH, NONE);
      if (batch !== null) {
        const ids = batch.map(({ runId }) => runId);
        // Small runs are not recorded in the journal.
        await this.#read(lane, batch, () => this.#services.suspects.loading('urgent', ids));
      }
      if (lane.isEmpty && this.#abandoned === null) await this.#services.suspects.loaded('urgent');
      if (lane.stopIfEmpty()) return;
    }
  }

  async #readBackground(): Promise<void> {
    const { suspects } = this.#services;
    const { memory } = this.#services.resources;
    const lane = this.#background;
    for (;;) {
      while (!memory.hasRoom && !lane.isEmpty) {
        lane.refuseUrgent(noRoom());
        if (lane.isEmpty) break;
        const { promise, resolve } = Promise.withResolvers<void>();
        memory.onRoom(resolve);
        await promise;
      }
      const batch = lane.next(BATCH, suspects);
      if (batch !== null) await this.#readJournaled(batch);
      if (lane.isEmpty && this.#abandoned === null) await suspects.loaded('background');
      if (lane.stopIfEmpty()) return;
    }
  }

  async #readJournaled(batch: readonly Wanted[]): Promise<void> {
    const ids = batch.map(({ runId }) => runId);
    try {
      await this.#services.suspects.loading('background', ids);
    } catch (error) {
      this.#background.refuse(batch, error);
      return;
    }
    if (this.#abandoned !== null) return;
    await this.#read(this.#background, batch);
    if (this.#abandoned === null) this.#services.suspects.survived(ids);
  }

  /** Settles when all runs of the batch are folded. */
  async #read(lane: Lane, batch: readonly Wanted[], onLarge?: () => Promise<void>): Promise<void> {
    const { reader, suspects, resources } = this.#services;
    const [first] = batch;
    const quarantined = first !== undefined && batch.length === 1 ? suspects.quarantine(first.runId) : null;
    try {
      const ids = batch.map(({ runId }) => runId);
      const skeleton = quarantined !== null;
      const { runs, left } = await reader.readRuns(ids, { maxBytes: BATCH_BYTES, skeleton, onLarge });
      const again = new Set(left);
      lane.putBack(batch.filter(({ runId }) => again.has(runId)));
      const ready = batch.filter(({ runId }) => !again.has(runId));
      const folds = await Promise.allSettled(ready.map(({ runId }) => this.#prepare(runs.get(runId), quarantined)));
      let size = 0;
      for (const [index, { resolve, reject }] of ready.entries()) {
        if (size > FOLDED_AT_ONCE) {
          size = 0;
          await resources.ownTurn();
        }
        const fold = folds[index];
        try {
          if (fold?.status === 'rejected') throw fold.reason;
          const run = fold?.value?.() ?? null;
          size += run === null ? 1 : run.state.steps.size + run.events.length;
          resolve(run);
        } catch (error) {
          reject(error);
        }
      }
    } catch (error) {
      lane.refuse(batch, error);
      return;
    }
    lane.done();
  }

  /** Returns what folds a run that was read, null if it does not exist, when everything that this takes is in memory. */
  async #prepare(read: RunRead | undefined, quarantined: string | null): Promise<(() => LoadedRun) | null> {
    if (read === undefined) return null;
    if (!read.ok) throw new RunUnreadable('the log of the run cannot be read', { cause: read.error });
    const { events, ...identity } = read.run;
    const { graphs, meter } = this.#services;
    const graph = await graphs.get(identity);
    const account = await meter.get(identity.tenantId);
    return () => {
      const state = folded(newRun(identity.runId, graph), events);
      return { identity, state, events, account, isBehind: read.rowSeq < state.seq, quarantined };
    };
  }
}

function folded(state: RunState, events: LoggedRun['events']): RunState {
  try {
    for (const event of events) evolve(state, event);
  } catch (error) {
    throw new RunUnreadable('the log of the run cannot be folded', { cause: error });
  }
  return state;
}

type Suspects = Pick<LoadSuspects, 'isEmpty' | 'has'>;
const NONE: Suspects = { isEmpty: true, has: () => false };

/** Runs that wait to be read, one batch after the other. */
class Lane {
  readonly #waiting = new TenantTurns<Wanted>();
  /** The runs of the batch that is being read. */
  #reads: readonly Wanted[] = [];
  #reading = false;
  readonly #start: () => void;

  constructor(start: () => void) {
    this.#start = start;
  }

  get isEmpty(): boolean {
    return this.#waiting.size === 0;
  }

  add(wanted: Wanted): void {
    this.#waiting.push(wanted);
    if (this.#reading) return;
    this.#reading = true;
    queueMicrotask(this.#start);
  }

  /** Returns the next runs to read together, null if none waits. A suspect is read alone, and after all others. */
  next(most: number, suspects: Suspects): readonly Wanted[] | null {
    this.#reads = suspects.isEmpty ? this.#waiting.take(most) : this.#nextOf(most, suspects);
    return this.#reads.length === 0 ? null : this.#reads;
  }

  #nextOf(most: number, suspects: Suspects): readonly Wanted[] {
    const held = this.#waiting.takeWhere(({ runId }) => suspects.has(runId));
    const others = this.#waiting.take(most);
    this.#waiting.putBack(held);
    return others.length > 0 ? others : this.#waiting.take(1);
  }

  /** Stops reading unless more runs wait; returns whether it stopped. */
  stopIfEmpty(): boolean {
    if (this.#waiting.size > 0) return false;
    this.#reading = false;
    return true;
  }

  putBack(wanted: readonly Wanted[]): void {
    this.#waiting.putBack(wanted);
  }

  remove(runId: string): Wanted | undefined {
    return this.#waiting.takeWhere(wanted => wanted.runId === runId)[0];
  }

  done(): void {
    this.#reads = [];
  }

  refuse(batch: readonly Wanted[], cause: unknown): void {
    this.done();
    for (const { reject } of batch) reject(cause);
  }

  /** Rejects the runs that callers wait for; the others keep waiting. */
  refuseUrgent(cause: unknown): void {
    for (const { reject } of this.#waiting.takeWhere(({ isUrgent }) => isUrgent)) reject(cause);
  }

  abandon(cause: unknown): void {
    for (const { reject } of [...this.#reads, ...this.#waiting.takeWhere(() => true)]) reject(cause);
  }
}

/** The delay before a run is folded again that could not be folded, or that another writer has advanced. */
export const RELOAD_DELAY_MS = 1_000;
/** The longest delay for a log that cannot be folded: an operator has to repair it. */
const MAX_RELOAD_DELAY_MS = 300_000;

/** Counts, for each run, how often in succession its log could not be folded. */
export class LoadRetries {
  readonly #failures = new Map<string, number>();

  /** Returns how long to wait, in ms. After an error of the database the delay stays short. */
  delayAfter(runId: string, error: unknown): number {
    if (!(error instanceof Error && error.cause instanceof RunUnreadable)) return RELOAD_DELAY_MS;
    const failures = this.#failures.get(runId) ?? 0;
    this.#failures.set(runId, failures + 1);
    return Math.min(MAX_RELOAD_DELAY_MS, RELOAD_DELAY_MS * 2 ** failures);
  }

  succeeded(runId: string): void {
    this.#failures.delete(runId);
  }
}
