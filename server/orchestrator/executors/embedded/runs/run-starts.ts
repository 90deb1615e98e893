import type { RunSnapshot, StartRun } from '../../../../contract/orchestrator.ts';
import { type CompiledGraph, newRun } from '../../../core/index.ts';
import type { CreditAccount } from '../credits/credit-account.ts';
import type { CreditMeter } from '../credits/credit-meter.ts';
import { checkStart } from '../memory/run-budget.ts';
import type { RunResources } from '../memory/run-resources.ts';
import type { ActiveRuns } from './active-runs.ts';
import type { GraphCache } from './graph-cache.ts';
import type { LiveRun } from './live-run.ts';
import { insufficientCredits, runIdTaken } from './refusals.ts';
import type { RunFinder } from './run-finder.ts';
import type { HeldRun } from './run-host.ts';

type Host = {
  /** Runs in memory. */
  live: ReadonlyMap<string, LiveRun>;
  /** Starts in progress: a run exists only after its commit. */
  starting: Map<string, Promise<RunSnapshot>>;
  finder: RunFinder;
  graphs: GraphCache;
  meter: CreditMeter;
  resources: RunResources;
  activeRuns: ActiveRuns;
  /** Throws AppError 503 while no command is accepted, 429 while none is of this tenant. */
  refuseWhenBusy(tenantId: string): void;
  inMemory(held: HeldRun, account: CreditAccount): LiveRun;
};

/** Starts runs. */
export class RunStarts {
  readonly #host: Host;

  constructor(host: Host) {
    this.#host = host;
  }

  /** Starts a run; see Orchestrator.start. */
  async start(run: StartRun): Promise<RunSnapshot> {
    const { finder, graphs, meter, resources, activeRuns, live, starting } = this.#host;
    const { runId, tenantId, projectId, workflowId, data } = run;
    this.#host.refuseWhenBusy(tenantId);
    checkStart(data, resources.limits.runBytes);
    const identity = { runId, tenantId, projectId, workflowId, version: data.version };
    const cached = graphs.get(identity);
    const graph: CompiledGraph = cached instanceof Promise ? await cached : cached;
    const known = meter.forStart(tenantId);
    const account = known instanceof Promise ? await known : known;
    const isPoor = !account.affordsStep;
    // An id counts as taken only when its run exists, because a refused caller may look for that run
    // immediately. A load that is in progress is also awaited: it would return the run just started, which
    // would then be in memory twice.
    for (let under = finder.underWay(runId); under !== undefined; under = finder.underWay(runId))
      await under.catch(() => undefined);
    this.#host.refuseWhenBusy(tenantId);
    if (live.has(runId)) throw runIdTaken();
    if (isPoor) throw insufficientCredits();
    resources.memory.admit(tenantId, this.#bytesOfParent(data));
    activeRuns.reserve(tenantId, data.parent !== undefined && data.parent.detached !== true);
    const created = this.#host.inMemory(
      { identity, state: newRun(runId, graph), isBehind: false, quarantined: null },
      account,
    );
    const started = created.submit({ type: 'start', data });
    starting.set(runId, started);
    try {
      return await started;
    } catch (error) {
      activeRuns.release(tenantId);
      throw error;
    } finally {
      starting.delete(runId);
    }
  }

  /**
   * The bytes of the run that calls this one do not count: it leaves memory while it waits. Otherwise a run that fills
   * its tenant's share could call none.
   */
  #bytesOfParent({ parent }: StartRun['data']): number {
    return parent === undefined ? 0 : (this.#host.live.get(parent.run_id)?.state.residentBytes ?? 0);
  }
}
