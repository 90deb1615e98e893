import type { Services } from '../../../operation/services.ts';
import type { Orchestrator, StreamItem } from '../../../orchestrator/ports/orchestrator.ts';
import { AppError } from '../../../platform/errors.ts';
import { isTerminal } from '../reading/run-state.ts';
import type { RunError } from '../schemas.ts';

/** The end of a run. */
export type RunEnd = { status: 'completed' | 'failed' | 'stopped'; error: RunError | null };
/** Ends a wait: with the end of the run, or with null if the run has not ended. */
type Settle = (end: RunEnd | null) => void;
/** One subscription to the events of a workspace, and the waits for its runs. */
type Tenant = { reserved: number; waits: Map<string, Set<Settle>>; unsubscribe: (() => void) | null };
type Wait = {
  timeoutMs: number;
  /** Calls the listener when the client has disconnected; returns a function that removes the listener. */
  onDisconnect?: ((listener: () => void) => () => void) | undefined;
  /** Looks once for an end of the run before the wait. */
  find: () => Promise<RunEnd | null>;
};

/**
 * The requests of this process that wait for the end of a run. They follow the events of the runs, and
 * read the database only once.
 */
export class RunEnds {
  readonly #orchestrator: Pick<Orchestrator, 'subscribe'>;
  readonly #limits: { total: number; perTenant: number };
  readonly #tenants = new Map<string, Tenant>();
  #reserved = 0;
  #isClosed = false;

  constructor(orchestrator: Pick<Orchestrator, 'subscribe'>, limits: { total: number; perTenant: number }) {
    this.#orchestrator = orchestrator;
    this.#limits = limits;
  }

  /** The number of places reserved by requests that wait or are about to wait. */
  get reserved(): number {
    return this.#reserved;
  }

  /**
   * Takes a place for a request that is going to wait; returns a function that releases it. Throws
   * AppError 429 `too_many_waiting`.
   */
  reserve(tenantId: string): () => void {
    const tenant = this.#tenants.get(tenantId) ?? { reserved: 0, waits: new Map(), unsubscribe: null };
    if (tenant.reserved >= this.#limits.perTenant) throw tooMany(this.#limits.perTenant, 'this workspace');
    if (this.#reserved >= this.#limits.total) throw tooMany(this.#limits.total, 'this service');
    this.#tenants.set(tenantId, tenant);
    tenant.reserved += 1;
    this.#reserved += 1;
    return () => {
      tenant.reserved -= 1;
      this.#reserved -= 1;
      if (tenant.reserved > 0) return;
      tenant.unsubscribe?.();
      this.#tenants.delete(tenantId);
    };
  }

  /**
   * Waits for the end of a run; its workspace must have reserved a place. Resolves with null when the time is up, the
   * client has disconnected, or the process stops or no longer leads. Rejects if `find` rejects.
   */
  async wait({ tenantId, runId }: { tenantId: string; runId: string }, wait: Wait): Promise<RunEnd | null> {
    const tenant = this.#tenants.get(tenantId);
    if (tenant === undefined) throw new Error('A wait needs a reserved place.');
    if (this.#isClosed) return null;
    const { promise, resolve, reject } = Promise.withResolvers<RunEnd | null>();
    const waits = tenant.waits.get(runId) ?? new Set();
    tenant.waits.set(runId, waits.add(resolve));
    tenant.unsubscribe ??= this.#subscribe(tenantId, tenant);
    const timer = setTimeout(resolve, wait.timeoutMs, null);
    const forget = wait.onDisconnect?.(() => resolve(null));
    // Started after the subscription to events, so that no end is missed between the two.
    wait.find().then(end => end !== null && resolve(end), reject);
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      forget?.();
      waits.delete(resolve);
      if (waits.size === 0 && tenant.waits.get(runId) === waits) tenant.waits.delete(runId);
    }
  }

  /** Ends all present and future waits. */
  close(): void {
    this.#isClosed = true;
    for (const tenant of this.#tenants.values()) settleAll(tenant);
  }

  #subscribe(tenantId: string, tenant: Tenant): () => void {
    const onItems = (items: StreamItem[]) => {
      const waits = tenant.waits.get(items[0]?.item.runId ?? '');
      const end = waits === undefined ? null : endIn(items);
      if (end !== null) for (const settle of waits ?? []) settle(end);
    };
    return this.#orchestrator.subscribe({ tenantId }, onItems, () => settleAll(tenant));
  }
}

function settleAll({ waits }: Tenant): void {
  for (const each of waits.values()) for (const settle of each) settle(null);
}

function endIn(items: readonly StreamItem[]): RunEnd | null {
  for (const item of items) {
    if (item.kind !== 'event' || item.item.event.type !== 'state_changed') continue;
    const { to, error } = item.item.event.data;
    if (isTerminal(to)) return endOf(to as RunEnd['status'], error ?? null);
  }
  return null;
}

/** Returns the end of a run with this status and error. */
export const endOf = (status: RunEnd['status'], error: RunError | null): RunEnd => ({ status, error });

function tooMany(limit: number, whose: string): AppError {
  const message = `${limit} requests of ${whose} wait for the end of a run already. Start the run without waiting, or try again.`;
  return new AppError(429, 'too_many_waiting', message, { headers: { 'Retry-After': '1' } });
}

const known = new WeakMap<Orchestrator, RunEnds>();

/** Returns the waiting requests of the process that these services belong to. */
export function runEndsOf({ orchestrator, config }: Pick<Services, 'orchestrator' | 'config'>): RunEnds {
  const present = known.get(orchestrator);
  if (present !== undefined) return present;
  const { maxWaiting: total, maxWaitingPerTenant: perTenant } = config.http;
  const created = new RunEnds(orchestrator, { total, perTenant });
  known.set(orchestrator, created);
  return created;
}
