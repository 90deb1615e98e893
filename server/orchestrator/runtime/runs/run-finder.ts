import { unavailable } from '../../../platform/errors.ts';
import type { RunSnapshot } from '../../ports/orchestrator.ts';
import type { LiveRun } from './live-run.ts';
import type { LoadedRun, Loader } from './loader.ts';
import type { RunKey } from './run-host.ts';

type Runs = {
  /** The runs in memory. */
  live: ReadonlyMap<string, LiveRun>;
  /** Starts in progress: a run exists only after its commit. */
  starting: ReadonlyMap<string, Promise<RunSnapshot>>;
  loader: Loader;
  /** Takes a folded run into memory; null if no more runs are loaded. */
  takeUp: (loaded: LoadedRun) => LiveRun | null;
};

/** Finds runs in memory or in the log. Callers that ask for the same run share one read. */
export class RunFinder {
  readonly #runs: Runs;
  readonly #loading = new Map<string, Promise<LiveRun | null>>();

  constructor(runs: Runs) {
    this.#runs = runs;
  }

  /**
   * Returns the start or load of the run that is in progress, if any. A load is hurried, because in the
   * background it may wait for memory.
   */
  underWay(runId: string): Promise<unknown> | undefined {
    const { starting, loader } = this.#runs;
    const loading = this.#loading.get(runId);
    if (loading !== undefined) loader.prioritize(runId);
    return starting.get(runId) ?? loading;
  }

  /**
   * Returns the run in memory, folding it if necessary; null if it does not exist. `isUrgent`: a caller waits for it.
   */
  async find(key: RunKey, isUrgent: boolean): Promise<LiveRun | null> {
    const { runId } = key;
    const { live, starting, loader } = this.#runs;
    // A failed start concerns only its own caller. Here it means that the log must be read, unless another start that
    // waited for it has begun meanwhile.
    for (let start = starting.get(runId); start !== undefined; start = starting.get(runId))
      await start.catch(() => undefined);
    const asked = this.#loading.get(runId);
    if (asked !== undefined && isUrgent) loader.prioritize(runId);
    // All callers await the same promise, so they continue in the order in which they asked.
    const run = live.get(runId) ?? (await (asked ?? this.#load(key, isUrgent)));
    if (run !== null || asked === undefined) return run;
    // That read began before this caller asked; since then another process may have started the run.
    return live.get(runId) ?? this.#loading.get(runId) ?? this.#load(key, isUrgent);
  }

  #load(key: RunKey, isUrgent: boolean): Promise<LiveRun | null> {
    const { loader, takeUp } = this.#runs;
    const { runId } = key;
    const loading = loader
      .load(key, isUrgent)
      .then(loaded => (loaded === null ? null : takeUp(loaded)))
      .catch((error: unknown) => {
        throw unavailable('unavailable', 'The run cannot be read at the moment.', 2, error);
      })
      .finally(() => this.#loading.delete(runId));
    this.#loading.set(runId, loading);
    return loading;
  }
}
