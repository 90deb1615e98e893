/** Named numbers of one repetition. A name that ends in `/s` is better the higher, every other the lower. */
export type Figures = Record<string, number>;

/**
 * A system under test with the same work for each: Baton and its peers implement it. It runs in a process of its own,
 * together with its driver, so that the driver's cost is part of every system's figures.
 */
export interface System {
  /** Versions of everything that takes part. */
  readonly versions: Record<string, string>;
  /** Pids that belong to it beside this process and its children: a database that detached itself. */
  readonly processes: readonly number[];
  /** Pids whose CPU time is shown on its own, by name. */
  parts?(): Promise<Record<string, number>>;
  /** A chain of ten durable steps that each evaluate `n > 0`: settles when its end is known here. */
  chain(): Promise<void>;
  /** `width` durable steps side by side and one that waits for all of them. */
  fanOut?(width: number): Promise<void>;
  /** `count` runs that wait durably for an answer from outside; `release` answers all and settles when all have ended. */
  block?(count: number): Promise<{ release(): Promise<void> }>;
  /** One run: a step that makes a list, a durable step for each of its `count` items, 100 at a time, and one after them. */
  forEach?(count: number): Promise<void>;
  /** One run that calls `count` others, each with one durable step, 100 at a time, and waits for their ends. */
  callRuns?(count: number): Promise<void>;
  /** A chain of ten durable steps: each sends a GET request to `url` and stores the response's JSON. */
  requests?(url: string): Promise<void>;
  /** Steps whose end is in the store: the proof that the work was done. */
  recordedSteps(): Promise<number>;
  /** Runs whose end is in the store, those that other runs called among them. */
  recordedRuns?(): Promise<number>;
  /** Prints what the store itself says about the part just measured (`--statements`). */
  statements?: { begin(): Promise<void>; end(): Promise<void> };
  close(): Promise<void>;
}

/** Seconds of time, and of CPU by part; `all` is every process of the system. */
export type Measured<T> = { seconds: number; cpu: { all: number } & Record<string, number>; value: T };

/** Runs `work` as the measured part: CPU time is taken around it, and `--profile` and `--statements` apply to it. */
export type Measure = <T>(work: () => Promise<T>) => Promise<Measured<T>>;

export type Workload<S extends System = System> = {
  name: string;
  /** The name in tables. */
  title: string;
  /** How many, mostly runs. `--size name=n` sets it. */
  size: number;
  /** Instead of `size` when peers do the same work: they would take minutes. */
  sizeWithPeers?: number;
  /** One repetition without a warm-up: it takes long, and does much of the same. */
  once?: boolean;
  /** Whether this system can do it at all. */
  can(system: System): system is S;
  /** `origin`: the URL of an HTTP server of the benchmark, in a process that is no part of the system. */
  run(system: S, size: number, measure: Measure, origin: string): Promise<Figures>;
};

/** The messages of the parent to a system's process, and the answers. */
export type Order =
  | { kind: 'run'; workload: string; size: number; origin: string; profile?: string; statements?: boolean }
  | { kind: 'close' };
export type Report =
  | { kind: 'open'; versions: Record<string, string>; processes: number[]; workloads: string[] }
  | { kind: 'figures'; figures: Figures }
  | { kind: 'failed'; message: string }
  | { kind: 'closed' };
