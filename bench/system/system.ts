/** Named numbers of one repetition. If a name ends in `/s`, higher is better; otherwise lower. */
export type Figures = Record<string, number>;

/**
 * A system under test: Baton or a peer. Each does the same work. It runs in a separate process together with its
 * driver, so that the driver's cost is part of every system's figures.
 */
export interface System {
  /** Versions of everything involved. */
  readonly versions: Record<string, string>;
  /** Pids of processes other than this one and its children, such as a detached database. */
  readonly processes: readonly number[];
  /** Pids whose CPU time is shown separately, by name. */
  parts?(): Promise<Record<string, number>>;
  /**
   * Runs a chain of ten durable steps that each evaluate `n > 0`; settles once this process knows that the chain has
   * ended.
   */
  chain(): Promise<void>;
  /** Runs `width` parallel durable steps and one that waits for all of them. */
  fanOut?(width: number): Promise<void>;
  /** Starts `count` runs that wait durably for an external answer; `release` answers all and settles when all have ended. */
  block?(count: number): Promise<{ release(): Promise<void> }>;
  /** Executes one run: a step that creates a list, a durable step for each of its `count` items, 100 at a time, and a last step. */
  forEach?(count: number): Promise<void>;
  /** Executes one run that calls `count` others, 100 at a time, each with one durable step, and waits for their ends. */
  callRuns?(count: number): Promise<void>;
  /** Runs a chain of ten durable steps: each sends a GET request to `url` and stores the response's JSON. */
  requests?(url: string): Promise<void>;
  /** Returns the number of steps whose end is in the store, which proves that the work was done. */
  recordedSteps(): Promise<number>;
  /** Returns the number of runs whose end is in the store, including called ones. */
  recordedRuns?(): Promise<number>;
  /** Prints the store's own statistics of the part just measured (`--statements`). */
  statements?: { begin(): Promise<void>; end(): Promise<void> };
  close(): Promise<void>;
}

/** Wall time in seconds, and CPU seconds by part; `all` includes every process of the system. */
export type Measured<T> = { seconds: number; cpu: { all: number } & Record<string, number>; value: T };

/** Runs `work` as the measured part: its CPU time is measured, and `--profile` and `--statements` apply to it. */
export type Measure = <T>(work: () => Promise<T>) => Promise<Measured<T>>;

export type Workload<S extends System = System> = {
  name: string;
  /** The name in tables. */
  title: string;
  /** The amount of work, usually a number of runs. `--size name=n` sets it. */
  size: number;
  /** The size if peers do the same work, because they would take minutes with `size`. */
  sizeWithPeers?: number;
  /** Whether one repetition without a warm-up is enough, because the workload takes long and repeats its work many times. */
  once?: boolean;
  /** Returns whether a system supports this workload. */
  can(system: System): system is S;
  /** `origin`: the URL of an HTTP server of the benchmark, in a process that is not part of the system. */
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
