import { Fifo } from '../../../platform/fifo.ts';
import type { GroupCommitLog, LogEntry, WriterLimits } from '../../log/index.ts';
import type { LiveRun } from './live-run.ts';

/** A turn counts as this many events in addition to those that it appends, because it costs time even without any. */
const TURN_EVENTS = 2;

type Host = {
  log: Pick<GroupCommitLog, 'hasRoom' | 'onRoom' | 'isShared'>;
  /** Calls back after the current turn of the event loop. */
  defer(callback: () => void): void;
  /** Calls back after a rest, in a turn of its own (PacedTurns). */
  ownTurn(callback: () => void): void;
  takeTurn(run: LiveRun): void;
  /** Called after each visit. */
  visited(): void;
};

type Tenant = {
  readonly id: string;
  readonly runs: Fifo<LiveRun>;
  /** Runs whose turns come before those of the others, such as the runs that are to be stopped. */
  readonly urgent: Fifo<LiveRun>;
  state: 'idle' | 'queued' | 'resting' | 'without room';
  /** The events that it appended in visit number `visit`. */
  appended: number;
  visit: number;
};

/**
 * The runs that have something to decide. Tenants take turns, run by run, and a tenant without room in the log waits
 * until it has some; meanwhile the commands to its runs collect. A visit is one turn of the event loop. It decides no
 * more than one batch of the log takes, and while more than one tenant is present, no more than a quantum of each
 * (docs/adr/0029-shares-of-the-commit-queue.md): so a thousand runs of one tenant that end at the same time neither fill
 * the log nor block the event loop. Every operation is O(1), amortized.
 */
export class TurnQueue {
  readonly #host: Host;
  readonly #limit: number;
  readonly #quantum: number;
  readonly #scheduled = new Set<LiveRun>();
  readonly #tenants = new Map<string, Tenant>();
  /** Tenants that may decide, next first. */
  readonly #round = new Fifo<Tenant>();
  /** Tenants that had a turn in this visit. */
  readonly #visited: Tenant[] = [];
  /** Tenants that have used up their quantum. */
  readonly #resting: Tenant[] = [];
  #visits = 0;
  #appended = 0;
  #isVisitDue = false;
  #isClosed = false;

  constructor(limits: WriterLimits, host: Host) {
    this.#host = host;
    this.#limit = limits.batchRows;
    this.#quantum = limits.quantumRows;
  }

  /** Whether a visit is due. */
  get isVisitDue(): boolean {
    return this.#isVisitDue;
  }

  /** Queues the run, unless it is queued already; if `isUrgent`, before all others of its tenant. */
  add(run: LiveRun, isUrgent: boolean): void {
    if (this.#isClosed) return;
    this.visitSoon();
    if (this.#scheduled.has(run) && !isUrgent) return;
    this.#scheduled.add(run);
    const tenant = this.#tenant(run.tenantId);
    (isUrgent ? tenant.urgent : tenant.runs).push(run);
    this.#enter(tenant);
  }

  /** Call this when the run has left memory: a slot that it has returned may have queued it. */
  delete(run: LiveRun): void {
    this.#scheduled.delete(run);
  }

  /** Call this for each entry that a turn appends, with the number of its events. */
  appended(tenantId: string, events: number): void {
    this.#appended += events;
    const tenant = this.#tenants.get(tenantId);
    if (tenant !== undefined) tenant.appended += events;
  }

  /** Everything that happens in this turn of the event loop is decided together and shares a commit. */
  visitSoon(): void {
    if (this.#isVisitDue || this.#isClosed) return;
    this.#isVisitDue = true;
    this.#host.defer(() => this.#visit());
  }

  /** Call this before a shutdown looks whether a visit is due: the tenants that rest have something to decide. */
  endRests(): void {
    for (const tenant of this.#resting.splice(0)) {
      tenant.state = 'idle';
      this.#enter(tenant);
      this.visitSoon();
    }
  }

  /** Visits no runs any more, and returns those that were queued. */
  close(): LiveRun[] {
    this.#isClosed = true;
    const runs = [...this.#scheduled];
    this.#scheduled.clear();
    return runs;
  }

  #visit(): void {
    this.#isVisitDue = false;
    if (this.#isClosed) return;
    this.#visits += 1;
    this.#appended = 0;
    // A turn may free or take slots of runs that were already visited: they are then visited again.
    while (this.#appended < this.#limit) {
      const tenant = this.#round.shift();
      if (tenant === undefined) break;
      if (this.#hasUsedItsQuantum(tenant)) {
        this.#letRest(tenant);
        continue;
      }
      tenant.state = 'idle';
      const run = this.#nextOf(tenant);
      if (run === undefined) continue;
      this.#host.takeTurn(run);
      this.appended(tenant.id, TURN_EVENTS);
      this.#enter(tenant);
    }
    // Not earlier, because a tenant has one quantum for the whole visit.
    for (const { id, state } of this.#visited.splice(0)) if (state === 'idle') this.#tenants.delete(id);
    this.#host.visited();
    if (this.#round.size > 0) this.visitSoon();
  }

  #letRest(tenant: Tenant): void {
    tenant.state = 'resting';
    this.#resting.push(tenant);
    if (this.#resting.length === 1) this.#host.ownTurn(() => this.endRests());
  }

  #hasUsedItsQuantum(tenant: Tenant): boolean {
    if (tenant.visit !== this.#visits) {
      tenant.visit = this.#visits;
      tenant.appended = 0;
      this.#visited.push(tenant);
    }
    return tenant.appended >= this.#quantum && (this.#host.log.isShared || this.#tenants.size > 1);
  }

  /** Returns the tenant's next run; undefined if there is none, or if the tenant waits for room. */
  #nextOf(tenant: Tenant): LiveRun | undefined {
    if (!this.#host.log.hasRoom(tenant.id)) {
      tenant.state = 'without room';
      this.#host.log.onRoom(tenant.id, () => {
        tenant.state = 'idle';
        this.#enter(tenant);
        this.visitSoon();
      });
      return undefined;
    }
    return this.#first(tenant.urgent) ?? this.#first(tenant.runs);
  }

  /** Takes the first run that has not had its turn in another place of the queue. */
  #first(runs: Fifo<LiveRun>): LiveRun | undefined {
    for (let run = runs.shift(); run !== undefined; run = runs.shift()) if (this.#scheduled.delete(run)) return run;
    return undefined;
  }

  #enter(tenant: Tenant): void {
    if (tenant.state !== 'idle' || (tenant.urgent.size === 0 && tenant.runs.size === 0)) return;
    tenant.state = 'queued';
    this.#round.push(tenant);
  }

  #tenant(id: string): Tenant {
    let tenant = this.#tenants.get(id);
    if (tenant === undefined) {
      tenant = { id, runs: new Fifo(), urgent: new Fifo(), state: 'idle', appended: 0, visit: 0 };
      this.#tenants.set(id, tenant);
    }
    return tenant;
  }
}

/** How many events an entry has: many skips are one row, and deciding each of them takes its time. */
export const eventsIn = ({ rows, projection }: LogEntry): number =>
  projection === null ? rows.length : projection.lastSeq - (rows[0]?.seq ?? projection.lastSeq) + 1;
