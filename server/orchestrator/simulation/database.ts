import { readJson } from '../../platform/json-text.ts';
import {
  type CompiledGraph,
  compile,
  evolve,
  type JsonMap,
  newRun,
  type RunEvent,
  type RunState,
  StoredValue,
} from '../core/index.ts';
import { expandRow } from '../log/compact-skips.ts';
import { decodeEvent, payloadRefs, type StoredEvent } from '../log/decode.ts';
import type { EventRow, PayloadRow } from '../log/encode.ts';
import type { LoadLane, LogEntry, NewRun, RunProjection, TaskChange, UsageRow } from '../log/index.ts';
import { Violation } from './checkers/violation.ts';
import { REFUSED } from './scenario.ts';
import { TermTable } from './term-table.ts';

/** A row of `runs`. */
export type RunsRow = NewRun & RunProjection & { id: string };
export type TaskRow = Omit<TaskChange, 'asked'> & { asked: NonNullable<TaskChange['asked']> };
export type StoredRow = EventRow & { readonly writer: string };

/** The account of a workspace; charges beyond its balance were waived. */
export type AccountRow = {
  balance: number;
  consumed: number;
  waived: number;
  allowance: number;
  grantedAt: number;
  /** When it was last read, and whether credits were granted since. */
  readAt: number;
  grantedSince: boolean;
};

/** All data of one run in the database. */
export type StoredRun = {
  readonly row: RunsRow;
  readonly events: StoredRow[];
  readonly payloads: Map<string, PayloadRow>;
  readonly tasks: Map<string, TaskRow>;
  readonly usage: UsageRow[];
};

/** An error as pg reports it when PostgreSQL refuses a value. */
export class DatabaseError extends Error {
  readonly code: string;
  readonly constraint: string | undefined;
  constructor(code: string, constraint?: string) {
    super(constraint === undefined ? `error ${code}` : `duplicate key value violates "${constraint}"`);
    this.code = code;
    this.constraint = constraint;
  }
}

/**
 * The tables that the log's statement writes, in memory, with the same keys, atomicity and refusals. database.test.ts
 * compares them with PostgreSQL.
 */
export class Database {
  readonly runs = new Map<string, StoredRun>();
  readonly terms = new TermTable();
  readonly loads = new Map<string, { process: string; lane: LoadLane; runIds: readonly string[] }>();
  readonly loadDeaths = new Map<string, number>();
  readonly #accounts = new Map<string, AccountRow>();

  /** Throws for a workspace without an account. */
  account(tenantId: string): Readonly<AccountRow> {
    const account = this.#accounts.get(tenantId);
    if (account === undefined) throw new Error(`${tenantId} has no account`);
    return account;
  }

  /** Opens an account, unless it exists. */
  open(tenantId: string, funds: number): void {
    if (this.#accounts.has(tenantId)) return;
    const fresh = { consumed: 0, waived: 0, grantedAt: 0, readAt: Number.NEGATIVE_INFINITY, grantedSince: false };
    this.#accounts.set(tenantId, { balance: funds, allowance: funds, ...fresh });
  }

  /** Grants credits at `now`, in virtual ms. */
  grant(tenantId: string, amount: number, now: number): void {
    const account = this.#accounts.get(tenantId);
    if (account === undefined) return;
    account.balance += amount;
    account.allowance = account.balance;
    account.grantedAt = now;
    account.grantedSince = true;
  }

  /** Notes that the account is read at `now`, in virtual ms. */
  noteRead(tenantId: string, now: number): void {
    const account = this.#accounts.get(tenantId);
    if (account === undefined) return;
    account.readAt = now;
    account.grantedSince = false;
  }

  /** Writes a whole batch, or throws a DatabaseError and writes nothing of it. */
  apply(batch: readonly LogEntry[], writer: string): void {
    this.#refuse(batch);
    for (const entry of batch) this.#write(entry, writer);
  }

  #refuse(batch: readonly LogEntry[]): void {
    const keys = new Set<string>();
    for (const { runId, rows, created } of batch) {
      const run = this.runs.get(runId);
      if (created !== undefined && (run !== undefined || keys.has(runId)))
        throw new DatabaseError('23505', 'runs_pkey');
      if (created !== undefined) keys.add(runId);
      for (const { seq, json } of rows) {
        if (json.includes(REFUSED)) throw new DatabaseError('22P05');
        if (run?.events.some(event => event.seq === seq) || keys.has(`${runId} ${seq}`))
          throw new DatabaseError('23505', 'run_events_pkey');
        keys.add(`${runId} ${seq}`);
      }
    }
    for (const { payloads } of batch)
      if (payloads.some(({ json }) => json.includes(REFUSED))) throw new DatabaseError('22P05');
  }

  #write(entry: LogEntry, writer: string): void {
    const { runId, rows, payloads, projection, created, tasks, usage } = entry;
    let run = this.runs.get(runId);
    if (created !== undefined && projection !== null) {
      const row = { id: runId, ...created, ...projection };
      run = { row, events: [], payloads: new Map(), tasks: new Map(), usage: [] };
      this.runs.set(runId, run);
    }
    if (run === undefined) throw new Error(`events of "${runId}", which has no row`);
    for (const { json } of [...rows, ...payloads])
      if (UNREADABLE.test(json)) throw new Violation('storage', `PostgreSQL could not read ${json.slice(0, 200)}`);
    for (const row of rows) run.events.push({ ...row, writer });
    for (const payload of payloads) run.payloads.set(payload.id, payload);
    if (projection !== null && run.row.lastSeq <= projection.lastSeq) Object.assign(run.row, projection);
    for (const task of tasks) writeTask(run, task);
    run.usage.push(...usage);
    this.#charge(entry);
  }

  #charge(entry: LogEntry): void {
    const account = this.#accounts.get(entry.owner.tenantId);
    const credits = chargeOf(entry);
    if (account === undefined || credits === 0) return;
    const paid = Math.min(account.balance, credits);
    account.balance -= paid;
    account.consumed += credits;
    account.waived += credits - paid;
  }
}

/**
 * An escape of NUL or of half a surrogate pair, as JSON.stringify writes them: no field of a value with one can be
 * read.
 */
const UNREADABLE = /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/;

/** Returns the microcredits that the commit of an entry takes from its workspace's account. */
export const chargeOf = ({ usage }: LogEntry): number =>
  usage.reduce((sum, { quantity, price }) => sum + quantity * price, 0);

function writeTask(run: StoredRun, { asked, ...change }: TaskChange): void {
  if (asked !== null) {
    run.tasks.set(change.step, { ...change, asked });
    return;
  }
  const row = run.tasks.get(change.step);
  if (row !== undefined) Object.assign(row, change);
}

/** Returns the events of a run as read for folding: large results stay in the log. Throws if a payload is missing. */
export function decodeToFold(run: StoredRun, rows: readonly EventRow[]): RunEvent[] {
  return rows.flatMap(row => {
    const [event, ...others] = decodeRows(run, [row]);
    const [stored] = payloadRefs(readJson(row.json) as JsonMap);
    if (event === undefined) throw new Error('a row is an event');
    if (event.type !== 'step_completed' || 'skipped' in event.data || stored?.field !== 'result')
      return [event, ...others];
    return [{ ...event, data: { ...event.data, result: new StoredValue(stored.ref.payload_id, stored.ref.bytes) } }];
  });
}

/** Returns the events of a run with payloads filled in. Throws if a payload is missing. */
export function decodeRows(run: StoredRun, rows: readonly EventRow[]): RunEvent[] {
  return numberedEvents(run, rows).map(({ event }) => event);
}

/** Returns the same events with their numbers: a row may stand for several skips. */
export function numberedEvents(run: StoredRun, rows: readonly EventRow[]): { seq: number; event: RunEvent }[] {
  return rows.flatMap(row => {
    const data: StoredEvent['data'] = readJson(row.json) as JsonMap;
    for (const { field, ref } of payloadRefs(data)) {
      const payload = run.payloads.get(ref.payload_id);
      if (payload === undefined) throw new Violation('replay', `the ${field} of event ${row.seq} is missing`);
      delete data[`${field}_ref`];
      data[field] = readJson(payload.json);
    }
    const stored = {
      seq: row.seq,
      event_type: row.type,
      step_id: row.step,
      attempt: row.attempt,
      data,
      created_at: new Date(row.at),
    };
    return expandRow(stored).map(each => ({ seq: each.seq, event: decodeEvent(each) }));
  });
}

const compiled = new WeakMap<object, CompiledGraph>();

/** Returns the compiled graph of a run, compiling it once. */
export function compiledGraph(graph: Parameters<typeof compile>[0]): CompiledGraph {
  let found = compiled.get(graph);
  if (found === undefined) {
    found = compile(graph);
    compiled.set(graph, found);
  }
  return found;
}

/** Folds events from the first on. */
export function fold(runId: string, graph: CompiledGraph, events: readonly RunEvent[]): RunState {
  const state = newRun(runId, graph);
  for (const event of events) evolve(state, event);
  return state;
}
