import { readJson } from '../../../platform/json-text.ts';
import type { RunEvent } from '../../core/index.ts';
import type { LogEntry } from '../../log/index.ts';
import type { AuditedRun } from '../auditor.ts';
import { chargeOf, type Database } from '../database.ts';
import { allSteps, publishedStep } from '../growth.ts';
import type { Surroundings } from '../surroundings.ts';
import { eventsOf, isPaidFor } from './usage.ts';
import { Violation } from './violation.ts';

/** The maximum time until a grant has been read, or a refusal answered, in ms: the slowest read in a frozen process. */
const READ_WITHIN_MS = 5_000;

/** The maximum time until a commit is answered, unless the process is frozen, in ms. */
const CHARGED_WITHIN_MS = 1_000;

const fail = (message: string) => new Violation('credits', message);

/** Returns the charge of an event, recomputed from the prices and the event's usage. */
function priceOf(event: RunEvent, at: Surroundings): number {
  const { prices } = at.economy;
  if (!isPaidFor(event)) return 0;
  const used = 'consumed' in event.data ? (event.data.consumed ?? []) : [];
  return used.reduce((sum, { action, quantity }) => sum + quantity * prices[action], prices.workflow_step);
}

const recordedCredits = (event: RunEvent): number => ('credits' in event.data ? (event.data.credits ?? 0) : 0);
const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);

/** Checks that the commit charges the cost of its events, both by the prices and by the amounts in the events. */
export function checkCredits(run: AuditedRun, entry: LogEntry, at: Surroundings): void {
  const fresh = eventsOf(run, entry);
  for (const event of fresh)
    if (recordedCredits(event) !== priceOf(event, at))
      throw fail(`${event.type} of ${run.id} says ${recordedCredits(event)}, but costs ${priceOf(event, at)}`);
  const due = sum(fresh.map(recordedCredits));
  const charged = chargeOf(entry);
  if (charged !== due) throw fail(`a commit of ${run.id} charges ${charged}, but its events say ${due}`);
}

/**
 * Checks that the total taken from each workspace equals the total of its events, each counted once, and the total of
 * the states of its runs.
 */
export function checkBooks(runs: Iterable<AuditedRun>, database: Database, at: Surroundings): void {
  const charged = new Map<string, number>();
  for (const { id, tenantId, history, state } of runs) {
    const said = sum(history.events.map(recordedCredits));
    if (state.credits !== said) throw fail(`the state of ${id} has ${state.credits}, its events say ${said}`);
    charged.set(tenantId, (charged.get(tenantId) ?? 0) + said);
  }
  for (const [tenantId, due] of charged) {
    const { consumed, waived } = database.account(tenantId);
    if (consumed !== due) throw fail(`${tenantId} was charged ${consumed}, but its events say ${due}`);
    if (waived > 0 && cannotOverdraw(tenantId, at)) throw fail(`${tenantId} was begun for what it could not pay`);
  }
}

/** Steps that hold no reservation while they wait, and are charged when they end. */
const waitingTypes: readonly string[] = ['human_task', 'wait', 'for_each', 'agent', 'call_workflow'];

/** Returns whether reservations equal charges: every price is known in advance and only attempts are charged. */
function cannotOverdraw(tenantId: string, at: Surroundings): boolean {
  const { enforced, prices } = at.economy;
  if (!enforced || at.twoLed || prices.llm_input_tokens > 0) return false;
  return [...at.scenarios.values()].every(
    ({ graph, tenantId: other }) =>
      // The workflows that it calls may contain steps that wait.
      other !== tenantId || allSteps(graph).every(({ type }) => !waitingTypes.includes(type)),
  );
}

type EventRow = LogEntry['rows'][number];

/** Returns what the event of a row charges, by its own account. */
function chargeIn({ type, json }: EventRow): number {
  if (type === 'step_started' || type === 'step_log' || !json.includes('"credits"')) return 0;
  const { credits } = readJson(json) as { credits?: unknown };
  return typeof credits === 'number' ? credits : 0;
}

/** Returns whether the row denies a step, or pauses the run because of a denial, and is no consequence of an earlier row. */
const isDenial = ({ type, json }: EventRow, isAfterDenial: boolean): boolean =>
  json.includes('"insufficient_credits"') &&
  !json.includes('"caused_by_step_id"') &&
  (type === 'step_failed' || !isAfterDenial);

/** Returns whether the step of a started attempt failed in the same turn instead of beginning. */
const isDeniedLater = (rows: LogEntry['rows'], { seq, step }: EventRow): boolean =>
  rows.some(row => row.seq > seq && row.type === 'step_failed' && row.step === step && INSTEAD.test(row.json));
const INSTEAD = /"(?:insufficient_credits|run_quarantined)"/;

/**
 * Counts the reservations of each workspace from the entries that one leader hands to its log: for a step from its
 * start to its end, for a charge until it is answered. From these it knows whether a started attempt can be paid for,
 * and whether a denied attempt could not.
 */
export class CreditWatch {
  readonly #at: Surroundings;
  readonly #database: Database;
  /**
   * Returns whether the leader still holds the lock for the workspace. A leader that lost the lock without noticing
   * decides from outdated data, but none of its decisions is written.
   */
  readonly #holdsLock: (tenantId: string) => boolean;
  readonly #held = new Map<string, Map<string, number>>();
  /** The steps among them that were cancelled by an entry in progress: the attempt may have ended already. */
  readonly #cancelled = new Set<string>();
  readonly #sending = new Map<string, number>();
  /** When each workspace last had too little for a step. */
  readonly #poorAt = new Map<string, number>();

  constructor(at: Surroundings, database: Database, holdsLock: (tenantId: string) => boolean) {
    this.#at = at;
    this.#database = database;
    this.#holdsLock = holdsLock;
  }

  /** Call this right after a turn was decided. Returns a function to call when its entry was committed, or refused. */
  appended(entry: LogEntry): (isCommitted: boolean) => void {
    const { runId, owner, rows } = entry;
    const { tenantId } = owner;
    this.#notePoor(tenantId);
    const credits = chargeOf(entry);
    const held = this.#held.get(tenantId) ?? new Map<string, number>();
    this.#held.set(tenantId, held);
    const cancelled: string[] = [];
    let charged = 0;
    let isDenied = false;
    // Row by row, because a turn may start a step with what is left of the credits after the end of another one.
    for (const row of rows) {
      const { type, step } = row;
      const key = `${runId} ${step}`;
      if (isDenial(row, isDenied)) {
        isDenied = true;
        this.#checkDenial(entry, row);
      }
      if (type === 'step_started' && step !== null) {
        // A step that fails instead of starting reserves nothing.
        if (isDeniedLater(rows, row)) continue;
        const price = this.#priceAhead(runId, step);
        held.delete(key);
        this.#checkStarted(tenantId, price, { step, charged });
        held.set(key, price);
      } else if (type === 'step_cancelled') {
        cancelled.push(key);
        this.#cancelled.add(key);
      } else if (type !== 'step_log') held.delete(key);
      const said = chargeIn(row);
      charged += said;
      this.#add(tenantId, said);
    }
    // `checkCredits` reports a charge that the events do not contain.
    this.#add(tenantId, credits - charged);
    return isCommitted => {
      this.#notePoor(tenantId);
      this.#add(tenantId, -credits);
      for (const key of cancelled) {
        held.delete(key);
        this.#cancelled.delete(key);
      }
      // A run whose entry was refused is loaded again, without its attempts.
      if (!isCommitted) for (const key of held.keys()) if (key.startsWith(`${runId} `)) held.delete(key);
    };
  }

  /** Forgets what the runs of these workspaces hold: another process executes them from now on. */
  forget(isOf: (tenantId: string) => boolean): void {
    for (const tenantId of this.#held.keys()) if (isOf(tenantId)) this.#held.delete(tenantId);
  }

  #checkDenial({ runId, owner, rows }: LogEntry, { step }: EventRow): void {
    // A step fails with the same error if the run that it calls is refused, which was decided earlier.
    const isRefused = rows.some(({ type, step: other }) => type === 'child_ended' && other === step);
    if (!isRefused) this.#checkDenied(owner.tenantId, runId, step);
    else if (this.#leadsAlone(owner.tenantId)) this.checkRefused(owner.tenantId);
  }

  /** Checks the refusal of a start for lack of credits. */
  checkRefused(tenantId: string): void {
    // A start reads the log between the decision and its answer, and attempts may end meanwhile.
    const { prices } = this.#at.economy;
    const poorAt = this.#poorAt.get(tenantId) ?? Number.NEGATIVE_INFINITY;
    const wasPoor = this.#at.agenda.now - poorAt < READ_WITHIN_MS;
    if (this.#left(tenantId) >= prices.workflow_step && !wasPoor && !this.#grantedLately(tenantId))
      this.#at.fail('credits', `a start of ${tenantId} was refused, which has ${this.#left(tenantId)}`);
  }

  #checkDenied(tenantId: string, runId: string, step: string | null): void {
    if (!this.#leadsAlone(tenantId) || this.#grantedLately(tenantId) || this.#readBeforeGrant(tenantId)) return;
    // A balance that is read during the commit of a charge may include it already: until the answer it counts twice.
    const { readAt } = this.#database.account(tenantId);
    if (this.#at.agenda.now - readAt < CHARGED_WITHIN_MS && (this.#poorAt.get(tenantId) ?? 0) >= readAt) return;
    const graph = this.#at.scenario(runId).graph;
    const types = allSteps(graph).flatMap(({ type }) => (type === 'agent' ? ['agent_turn', 'agent_tool'] : [type]));
    const dearest = Math.max(0, ...types.map(type => this.#priceOf(type)));
    const price = step === null ? dearest : this.#priceAhead(runId, step);
    if (this.#left(tenantId) >= price)
      this.#at.fail('credits', `"${step}" of ${runId} was denied for ${price}: there is ${this.#left(tenantId)}`);
  }

  /** `charged`: what the turn has charged before the start of the step, which holds nothing yet. */
  #checkStarted(tenantId: string, price: number, { step, charged }: { step: string; charged: number }): void {
    // Less what is held for other steps. Charges of other turns may be in the balance already.
    const others = sum(
      [...(this.#held.get(tenantId) ?? [])].map(([key, each]) => (this.#cancelled.has(key) ? 0 : each)),
    );
    const left = this.#database.account(tenantId).balance - charged - others;
    if (this.#at.economy.enforced && this.#leadsAlone(tenantId) && price > 0 && left < price)
      this.#at.fail('credits', `"${step}" of ${tenantId} began for ${price}, but there was only ${left}`);
  }

  #leadsAlone(tenantId: string): boolean {
    return !this.#at.twoLed && this.#holdsLock(tenantId);
  }

  /** Returns the balance in the database, less the reservations. */
  #left(tenantId: string): number {
    const held = sum([...(this.#held.get(tenantId)?.values() ?? [])]);
    return this.#database.account(tenantId).balance - held - (this.#sending.get(tenantId) ?? 0);
  }

  /** Call this before a reservation changes. */
  #notePoor(tenantId: string): void {
    if (this.#left(tenantId) < this.#at.economy.prices.workflow_step) this.#poorAt.set(tenantId, this.#at.agenda.now);
  }

  #grantedLately(tenantId: string): boolean {
    const { grantedAt } = this.#database.account(tenantId);
    return grantedAt > 0 && this.#at.agenda.now - grantedAt < READ_WITHIN_MS;
  }

  /**
   * Returns whether the balance was read recently and credits were granted since. The step may have waited for its slot
   * in between.
   */
  #readBeforeGrant(tenantId: string): boolean {
    const { readAt, grantedSince } = this.#database.account(tenantId);
    return grantedSince && this.#at.agenda.now - readAt < READ_WITHIN_MS;
  }

  #priceAhead(runId: string, step: string): number {
    return this.#priceOf(publishedStep(this.#at.scenario(runId).graph, step)?.type);
  }

  #priceOf(type: string | undefined): number {
    const { prices } = this.#at.economy;
    if (type === 'agent_turn' || type === 'agent_compaction')
      return prices.workflow_step + prices.llm_input_tokens + prices.llm_output_tokens;
    return prices.workflow_step + (type === 'mcp_call' || type === 'agent_tool' ? prices.tool_call : 0);
  }

  #add(tenantId: string, credits: number): void {
    this.#sending.set(tenantId, (this.#sending.get(tenantId) ?? 0) + credits);
  }
}
