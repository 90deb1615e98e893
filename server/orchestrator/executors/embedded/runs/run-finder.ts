import type { RunSnapshot } from '../../../../contract/orchestrator.ts';
import { unavailable } from '../../../../platform/errors.ts';
import type { LiveRun } from './live-run.ts';
import type { LoadedRun, Loader } from './loader.ts';

type Runs = {
  /** In memory. */
  live: ReadonlyMap<string, LiveRun>;
  /** Starts in progress: a run exists only after its commit. */
  starting: ReadonlyMap<string, Promise<RunSnapshot>>;
  loader: Loader;
  /** Takes a folded run into memory; null if no more runs are loaded. */
  takeUp: (loaded: LoadedRun) => LiveRun | null;
};

/** Finds runs in memory or, one read for all who ask, in the log. */
export class RunFinder {
  readonly #runs: Runs;
  readonly #loading = new Map<string, Promise<LiveRun | null>>();

  constructor(runs: Runs) {
    this.#runs = runs;
  }

  /** A start or a load of the run that has not come to its end, for a caller: in the background it may wait for memory. */
  underWay(runId: string): Promise<unknown> | undefined {
    const { starting, loader } = this.#runs;
    const loading = this.#loading.get(runId);
    if (loading !== undefined) loader.hurry(runId);
    return starting.get(runId) ?? loading;
  }

  /** The run in memory, folded if need be; null if there is none. `isUrgent`: a caller waits for it. */
  async find(runId: string, isUrgent: boolean): Promise<LiveRun | null> {
    const { live, starting, loader } = this.#runs;
    // A start that fails is the affair of its caller; here it only means that the log is to be asked, unless the next one that
    // waited for it has begun meanwhile.
    for (let start = starting.get(runId); start !== undefined; start = starting.get(runId))
      await start.catch(() => undefined);
    const asked = this.#loading.get(runId);
    if (asked !== undefined && isUrgent) loader.hurry(runId);
    // Whoever asks first goes on first, so all of them wait for the same promise in the same way.
    const run = live.get(runId) ?? (await (asked ?? this.#load(runId, isUrgent)));
    if (run !== null || asked === undefined) return run;
    // The log was read before this caller came, which may know of a run that another process has started since.
    return live.get(runId) ?? this.#loading.get(runId) ?? this.#load(runId, isUrgent);
  }

  #load(runId: string, isUrgent: boolean): Promise<LiveRun | null> {
    const { loader, takeUp } = this.#runs;
    const loading = loader
      .load(runId, isUrgent)
      .then(loaded => (loaded === null ? null : takeUp(loaded)))
      .catch((error: unknown) => {
        throw unavailable('unavailable', 'The run cannot be read at the moment.', 2, error);
      })
      .finally(() => this.#loading.delete(runId));
    this.#loading.set(runId, loading);
    return loading;
  }
}
