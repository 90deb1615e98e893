/** Named numbers of one repetition. If a name ends in `/s`, higher is better; otherwise lower. */
export type Figures = Record<string, number>;

/**
 * A system under test with the same work for each: Baton and its peers implement it. It runs in a process of its own,
 * together with its driver, so that the driver's cost is part of every system's figures.
 */
export interface System {
  /** Versions of everything involved. */
  readonly versions: Record<string, string>;
  /** Pids that belong to it besides this process and its children, such as a database that detached itself. */
  readonly processes: readonly number[];
  /** Pids whose CPU time is shown separately, by name. */
  parts?(): Promise<Record<string, number>>;
  /** A chain of ten durable steps that each evaluate `n > 0`: settles when this process knows that it has ended. */
  chain(): Promise<void>;
  /** `width` parallel durable steps and one that waits for all of them. */
  fanOut?(width: number): Promise<void>;
  /** `count` runs that wait durably for an external answer; `release` answers all and settles when all have ended. */
  block?(count: number): Promise<{ release(): Promise<void> }>;
  /**
   * One run: a step that creates a list, a durable step for each of its `count` items, 100 at
   * a time, and one after them.
   */
  forEach?(count: number): Promise<void>;
  /** One run that calls `count` others, each with one durable step, 100 at a time, and waits for their ends. */
  callRuns?(count: number): Promise<void>;
  /** A chain of ten durable steps: each sends a GET request to `url` and stores the response's JSON. */
  requests?(url: string): Promise<void>;
  /** Returns the number of steps whose end is in the store, which proves that the work was done. */
  recordedSteps(): Promise<number>;
  /** Returns the number of runs whose end is in the store, including called ones. */
  recordedRuns?(): Promise<number>;
  /** Prints the store's own statistics of the part just measured (`--statements`). */
  statements?: { begin(): Promise<void>; end(): Promise<void> };
  close(): Promise<void>;
}

/** Seconds of time, and of CPU by part; `all` includes every process of the system. */
export type Measured<T> = { seconds: number; cpu: { all: number } & Record<string, number>; value: T };

/** Runs `work` as the measured part: CPU time is measured around it, and `--profile` and `--statements` apply to it. */
export type Measure = <T>(work: () => Promise<T>) => Promise<Measured<T>>;

export type Workload<S extends System = System> = {
  name: string;
  /** The name in tables. */
  title: string;
  /** The amount of work, mostly a number of runs. `--size name=n` sets it. */
  size: number;
  /** Used instead of `size` when peers do the same work, because they would take minutes. */
  sizeWithPeers?: number;
  /** One repetition without a warm-up, because it takes long and does the same thing many times. */
  once?: boolean;
  /** Returns whether this system supports it. */
  can(system: System): system is S;
  /** `origin`: the URL of an HTTP server of the benchmark, in a process that does not belong to the system. */
  run(system: S, size: number, measure: Measure, origin: string): Promise<Figures>;
};

/** The parent's messages to a system's process, and the answers. */
export type Order =
  | { kind: 'run'; workload: string; size: number; origin: string; profile?: string; statements?: boolean }
  | { kind: 'close' };
export type Report =
  | { kind: 'open'; versions: Record<string, string>; processes: number[]; workloads: string[] }
  | { kind: 'figures'; figures: Figures }
  | { kind: 'failed'; message: string }
  | { kind: 'closed' };
