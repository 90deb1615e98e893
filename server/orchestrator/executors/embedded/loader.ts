import { evolve, newRun, type RunEvent, type RunState } from '../../core/index.ts';
import type { LoggedRun, LogReader } from '../../log/index.ts';
import type { CreditAccount } from './credit-account.ts';
import type { CreditMeter } from './credit-meter.ts';
import type { GraphCache } from './graph-cache.ts';
import type { RunIdentity } from './turn.ts';

/** Nothing of a run begins or is charged before the credits of its workspace are known. */
export type LoadedRun = {
  identity: RunIdentity;
  state: RunState;
  events: readonly RunEvent[];
  account: CreditAccount;
};

/** 100 runs of some 50 events are a read of ~1 MB; a read at a time leaves the pool to the API. */
const BATCH = 100;

type Wanted = { runId: string; resolve: (run: LoadedRun | null) => void; reject: (error: unknown) => void };

/** Folds runs from the log. Runs asked for at about the same time are read together. */
export class Loader {
  readonly #reader: LogReader;
  readonly #graphs: GraphCache;
  readonly #meter: CreditMeter;
  #wanted: Wanted[] = [];
  /** Of the read that is under way. */
  #reads: readonly Wanted[] = [];
  #reading = false;

  constructor(reader: LogReader, graphs: GraphCache, meter: CreditMeter) {
    this.#reader = reader;
    this.#meter = meter;
    this.#graphs = graphs;
  }

  /** Null where there is no such run. Throws what the database says, or an Error for a log that cannot be folded. */
  load(runId: string): Promise<LoadedRun | null> {
    return new Promise((resolve, reject) => {
      this.#wanted.push({ runId, resolve, reject });
      if (this.#reading) return;
      this.#reading = true;
      queueMicrotask(() => void this.#readAll());
    });
  }

  /** Refuses whoever waits: a read of a database that hangs would keep them for longer than anybody is to wait. */
  abandon(cause: unknown): void {
    for (const { reject } of [...this.#reads, ...this.#wanted.splice(0)]) reject(cause);
  }

  async #readAll(): Promise<void> {
    while (this.#wanted.length > 0) {
      const batch = this.#wanted.splice(0, BATCH);
      this.#reads = batch;
      try {
        const runs = await this.#reader.readRuns(batch.map(({ runId }) => runId));
        for (const wanted of batch) void this.#fold(runs.get(wanted.runId)).then(wanted.resolve, wanted.reject);
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    this.#reads = [];
    this.#reading = false;
  }

  async #fold(run: LoggedRun | undefined): Promise<LoadedRun | null> {
    if (run === undefined) return null;
    const { events, ...identity } = run;
    const cached = this.#graphs.get(identity);
    const graph = cached instanceof Promise ? await cached : cached;
    const known = this.#meter.get(identity.tenantId);
    const account = known instanceof Promise ? await known : known;
    const state = newRun(identity.runId, graph);
    for (const event of events) evolve(state, event);
    return { identity, state, events, account };
  }
}
