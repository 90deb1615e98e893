import { AppError } from '../../../platform/errors.ts';
import { type CompiledGraph, MAX_CALL_DEPTH, newRun, rootAbove } from '../../core/index.ts';
import type { LogReader } from '../../log/index.ts';
import type { RunSnapshot, StartRun } from '../../ports/orchestrator.ts';
import type { CreditAccount } from '../credits/credit-account.ts';
import type { CreditMeter } from '../credits/credit-meter.ts';
import { checkStart } from '../memory/run-budget.ts';
import type { RunResources } from '../memory/run-resources.ts';
import { ActiveRuns } from './active-runs.ts';
import { type DescendantLimits, Descendants } from './descendants.ts';
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
  limits: DescendantLimits & { maxActiveRunsPerTenant: number };
  reader: Pick<LogReader, 'countDescendants' | 'childRuns'>;
  /** Throws AppError 503 while no command is accepted, 429 while none is of this tenant. */
  refuseWhenBusy(tenantId: string): void;
  inMemory(held: HeldRun, account: CreditAccount): LiveRun;
};

/** Starts runs. */
export class RunStarts {
  readonly #host: Host;
  readonly #activeRuns: ActiveRuns;
  readonly #descendants: Descendants;

  constructor(host: Host) {
    this.#host = host;
    this.#activeRuns = new ActiveRuns(host.limits.maxActiveRunsPerTenant);
    this.#descendants = new Descendants(host.limits, host.reader);
  }

  /** Sets how many active runs each tenant has in the database. Call this before any start. */
  setActiveRuns(counts: ReadonlyMap<string, number>): void {
    this.#activeRuns.set(counts);
  }

  /** Forgets the runs of these workspaces: another process counts them from now on. */
  forget(isOf: (tenantId: string) => boolean): void {
    this.#activeRuns.forget(isOf);
    this.#descendants.forget(isOf);
  }

  /** Call this when a run that counts as active has ended. */
  ended({ identity, state }: LiveRun): void {
    this.#activeRuns.release(identity.tenantId);
    if (state.started !== null) this.#descendants.ended(rootAbove(state.started));
  }

  /** Starts a run; see Orchestrator.start. */
  async start(run: StartRun): Promise<RunSnapshot> {
    const { graphs, meter, resources, live, starting } = this.#host;
    const { runId, tenantId, projectId, workflowId, data } = run;
    this.#host.refuseWhenBusy(tenantId);
    checkStart(data, resources.limits.runBytes);
    checkDepth(data);
    const identity = { runId, tenantId, projectId, workflowId, version: data.version };
    const cached = graphs.get(identity);
    const graph: CompiledGraph = cached instanceof Promise ? await cached : cached;
    const root = rootAbove(data);
    let admitted: { account: CreditAccount; release: () => void } | null = null;
    for (let isNew = false; admitted === null; isNew = true) {
      const known = meter.forStart(tenantId);
      const account = known instanceof Promise ? await known : known;
      // From here on, a shortage of credits has not been confirmed by another read.
      const isPoor = !account.affordsStep;
      // Not extracted to a function: a start without anything to wait for is decided in this turn of the event loop.
      for (let pending = this.#pending(runId, root); pending !== null; pending = this.#pending(runId, root))
        await pending;
      this.#host.refuseWhenBusy(tenantId);
      if (live.has(runId)) throw runIdTaken();
      try {
        if (isPoor) throw insufficientCredits();
        resources.memory.admit(tenantId, this.#bytesOfParent(data));
        admitted = { account, release: this.#reserve(tenantId, data, root) };
      } catch (refusal) {
        if (isNew) throw refusal;
        if (await this.#exists(runId)) throw runIdTaken();
      }
    }
    const { account, release } = admitted;
    const created = this.#host.inMemory(
      { identity, state: newRun(runId, graph), isBehind: false, quarantined: null },
      account,
    );
    const started = created.submit({ type: 'start', data });
    starting.set(runId, started);
    try {
      return await started;
    } catch (error) {
      release();
      throw error;
    } finally {
      starting.delete(runId);
    }
  }

  /**
   * Returns what a start must wait for; null: nothing. An id counts as taken only once its run exists, because a
   * refused caller may look for that run immediately. A load in progress is also awaited: otherwise it would return the
   * run just started, which would then be in memory twice. The runs beneath `root` must also be counted.
   */
  #pending(runId: string, root: string | null): Promise<unknown> | null {
    return this.#host.finder.underWay(runId)?.catch(() => undefined) ?? this.#descendants.counting(root);
  }

  /** A repeated start must not be refused because of the credits, the memory or the place that its own run took. */
  async #exists(runId: string): Promise<boolean> {
    const rows = await this.#host.reader.childRuns([runId]).catch(() => []);
    return rows.length > 0;
  }

  /** Reserves the places of a run that starts; returns a function that releases them. Throws AppError if there is no place. */
  #reserve(tenantId: string, { parent }: StartRun['data'], root: string | null): () => void {
    this.#descendants.reserve(root, tenantId);
    try {
      this.#activeRuns.reserve(tenantId, parent !== undefined && parent.detached !== true);
    } catch (error) {
      this.#descendants.release(root);
      throw error;
    }
    return () => {
      this.#activeRuns.release(tenantId);
      this.#descendants.release(root);
    };
  }

  /**
   * The bytes of the run that calls this one do not count: it leaves memory while it waits. Otherwise a run that fills
   * its tenant's share could call none.
   */
  #bytesOfParent({ parent }: StartRun['data']): number {
    return parent === undefined ? 0 : (this.#host.live.get(parent.run_id)?.state.residentBytes ?? 0);
  }
}

/** Checks the depth of a run that a request of another run starts. Calls are checked before they are recorded. */
function checkDepth({ beneath }: StartRun['data']): void {
  if (beneath === undefined || beneath.depth <= MAX_CALL_DEPTH) return;
  throw new AppError(
    422,
    'calls_too_deep',
    `The start was requested by a run that runs led to by ${MAX_CALL_DEPTH} calls or requests: it may start no further one.`,
  );
}
