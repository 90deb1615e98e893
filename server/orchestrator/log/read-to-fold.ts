import type { Pool } from 'pg';
import { readJson } from '../../platform/json-text.ts';
import { isDatabaseAway } from '../../platform/postgres/away.ts';
import { type JsonMap, type RunEvent, StoredValue } from '../core/index.ts';
import { expandRow, STEPS_SKIPPED } from './compact-skips.ts';
import { decodeEvent, payloadRefs } from './decode.ts';
import type { LoggedRun } from './read.ts';

/**
 * A run, or why it could not be read. Other runs of the same read are not affected. `rowSeq`: the number of events that its
 * row in `runs` is up to.
 */
export type RunRead = { ok: true; run: LoggedRun; rowSeq: number } | { ok: false; error: unknown };

export type RunsRead = {
  /** Runs that do not exist are absent. */
  runs: Map<string, RunRead>;
  /** Runs that were not read because the others reached `maxBytes`; to be requested again. */
  left: string[];
};

export type ReadOptions = {
  /** Once the runs read so far hold this many bytes, no further run is read. A single run is always read whole. */
  maxBytes: number;
  /** Leaves out all large fields of events: ending the run does not need them. */
  skeleton?: boolean;
  /** Called and awaited once, before parsing, if what was read holds LARGE_BYTES or more. */
  onLarge?: () => Promise<void>;
};

/** Folding less than this cannot end a process. */
export const LARGE_BYTES = 1024 * 1024;

type RunRow = {
  id: string;
  tenant_id: string;
  project_id: string;
  workflow_id: string;
  version: number;
  last_seq: number;
};
type EventRow = {
  run_id: string;
  seq: number;
  event_type: string;
  step_id: string | null;
  attempt: number | null;
  data: string;
  created_at: Date;
};

/** 1,000 events take 150 KB in most runs, and 16 MiB if each holds as much as an event may. */
const PAGE = 1_000;
/** A skeleton leaves out fields of events that are longer than this. */
const SKELETON_FIELD_BYTES = 1_024;

/**
 * Reads whole runs for folding, page by page. Large results stay references; the large values that start runs and loops
 * need are filled in. Log lines are left out: no state depends on them. Rejects only if the database is unreachable.
 */
export async function readRunsToFold(pool: Pool, runIds: readonly string[], options: ReadOptions): Promise<RunsRead> {
  try {
    const reading = new Reading(pool, options);
    await reading.read(runIds);
    return { runs: reading.runs, left: reading.left };
  } catch (error) {
    if (isDatabaseAway(error)) throw error;
    const [only] = runIds;
    if (only === undefined) return { runs: new Map(), left: [] };
    if (runIds.length === 1) return { runs: new Map([[only, { ok: false, error }]]), left: [] };
    // The database refuses to read one of them: the list is halved until that run is alone.
    const half = runIds.length >> 1;
    const first = await readRunsToFold(pool, runIds.slice(0, half), options);
    const second = await readRunsToFold(pool, runIds.slice(half), options);
    return { runs: new Map([...first.runs, ...second.runs]), left: [...first.left, ...second.left] };
  }
}

class Reading {
  readonly runs = new Map<string, RunRead>();
  left: string[] = [];
  readonly #pool: Pool;
  readonly #options: ReadOptions;
  readonly #given: { runId: string; data: JsonMap; field: string; id: string }[] = [];
  #bytes = 0;
  #readBytes = 0;
  #reported = false;

  constructor(pool: Pool, options: ReadOptions) {
    this.#pool = pool;
    this.#options = options;
  }

  async read(runIds: readonly string[]): Promise<void> {
    const { rows } = await this.#pool.query<RunRow>({
      name: 'log_fold_runs',
      text: `SELECT id, tenant_id, project_id, workflow_id, version, last_seq FROM runs
             WHERE id = ANY($1::uuid[]) ORDER BY id`,
      values: [runIds],
    });
    for (const { id, tenant_id, project_id, workflow_id, version, last_seq: rowSeq } of rows) {
      const identity = { runId: id, tenantId: tenant_id, projectId: project_id, workflowId: workflow_id, version };
      this.runs.set(id, { ok: true, run: { ...identity, events: [] }, rowSeq });
    }
    await this.#readEvents(rows.map(({ id }) => id));
    await this.#resolveGiven();
    // Every log has at least one event: retention deleted such a run between the two queries.
    for (const [runId, read] of this.runs) if (read.ok && read.run.events.length === 0) this.runs.delete(runId);
  }

  async #readEvents(ids: readonly string[]): Promise<void> {
    let after = { run: FIRST_UUID, seq: 0 };
    for (let rest = ids; rest.length > 0; ) {
      const rows: EventRow[] = await this.#page(rest, after);
      await this.#reportLarge(rows);
      for (const row of rows) {
        if (row.run_id !== after.run && this.#bytes >= this.#options.maxBytes) {
          this.#leave(ids.filter(id => id >= row.run_id));
          return;
        }
        after = { run: row.run_id, seq: row.seq };
        this.#add(row);
      }
      if (rows.length < PAGE) return;
      const last = after.run;
      rest = rest.filter(id => id >= last);
    }
  }

  async #page(ids: readonly string[], after: { run: string; seq: number }): Promise<EventRow[]> {
    const { rows } = await this.#pool.query<EventRow>({
      name: this.#options.skeleton ? 'log_fold_skeletons' : 'log_fold_events',
      text: `SELECT run_id, seq, event_type, step_id, attempt, created_at,
                    CASE event_type WHEN 'step_log' THEN '{"lines":[]}' WHEN 'steps_added' THEN data::text WHEN '${STEPS_SKIPPED}' THEN data::text ELSE ${this.#options.skeleton ? SMALL_FIELDS : 'data::text'} END AS data
             FROM run_events
             WHERE run_id = ANY($1::uuid[]) AND (run_id, seq) > ($2::uuid, $3::int)
             ORDER BY run_id, seq LIMIT ${PAGE}`,
      values: [ids, after.run, after.seq],
    });
    return rows;
  }

  async #reportLarge(rows: readonly EventRow[]): Promise<void> {
    for (const { data } of rows) this.#readBytes += data.length;
    if (this.#readBytes < LARGE_BYTES || this.#reported) return;
    this.#reported = true;
    await this.#options.onLarge?.();
  }

  #leave(ids: string[]): void {
    this.left = ids;
    for (const id of ids) this.runs.delete(id);
  }

  #add(row: EventRow): void {
    const read = this.runs.get(row.run_id);
    if (!read?.ok) return;
    this.#bytes += row.data.length;
    try {
      if (row.event_type === STEPS_SKIPPED) this.#addSkips(read.run, row);
      else read.run.events.push(this.#decode(row));
    } catch (error) {
      const cause = new Error(`event ${row.seq} cannot be read`, { cause: error });
      this.runs.set(row.run_id, { ok: false, error: cause });
    }
  }

  #addSkips(run: LoggedRun, row: EventRow): void {
    for (const each of expandRow({ ...row, data: readJson(row.data) as JsonMap })) run.events.push(decodeEvent(each));
  }

  #decode(row: EventRow): RunEvent {
    const data = readJson(row.data) as JsonMap;
    if (row.event_type === 'step_completed') return decodeEvent({ ...row, data: withStoredResult(data) });
    if (row.event_type === 'run_started' || row.event_type === 'step_expanded' || row.event_type === 'child_called') {
      for (const { field, ref } of payloadRefs(data)) {
        this.#bytes += ref.bytes;
        this.#given.push({ runId: row.run_id, data, field, id: ref.payload_id });
      }
      if (this.#options.skeleton && row.event_type === 'run_started')
        return decodeEvent({ ...row, data: { ...EMPTY_START, ...data } });
    }
    return decodeEvent({ ...row, data });
  }

  /** Fills in the large values with which runs are started or start others, and the items of loops. */
  async #resolveGiven(): Promise<void> {
    const wanted = this.#options.skeleton ? [] : this.#given.filter(({ runId }) => this.runs.has(runId));
    if (wanted.length === 0) return;
    const texts = await readPayloadTexts(this.#pool, wanted);
    for (const { runId, data, field, id } of wanted) {
      const text = texts.get(id);
      if (text === undefined) this.runs.set(runId, { ok: false, error: new Error(`payload ${id} is missing`) });
      else {
        delete data[`${field}_ref`];
        data[field] = readJson(text);
      }
    }
  }
}

const FIRST_UUID = '00000000-0000-0000-0000-000000000000';
const EMPTY_START: JsonMap = { input: {}, trigger_steps: {}, seed_results: {} };
const SMALL_FIELDS = `(SELECT coalesce(json_object_agg(f.key, f.value), '{}')::text FROM json_each(data) f
  WHERE octet_length(f.value::text) <= ${SKELETON_FIELD_BYTES})`;

function withStoredResult(data: JsonMap): JsonMap {
  const [stored] = payloadRefs(data);
  if (stored?.field !== 'result') return data;
  const { result_ref: _ref, ...rest } = data;
  // A StoredValue is not JSON, but decodeEvent takes the data as that of an event, which may hold one.
  return { result: new StoredValue(stored.ref.payload_id, stored.ref.bytes), ...rest } as unknown as JsonMap;
}

/** Returns the JSON texts of payloads; those that do not exist are absent. */
export async function readPayloadTexts(
  pool: Pool,
  wanted: readonly { runId: string; id: string }[],
): Promise<Map<string, string>> {
  const { rows } = await pool.query<{ id: string; body: string }>({
    name: 'log_read_payload_texts',
    // The run's id determines the partition of the payload, and the key begins with it.
    text: `SELECT p.id, p.body::text AS body FROM unnest($1::uuid[], $2::uuid[]) AS w(run_id, id)
           JOIN run_payloads p ON p.run_id = w.run_id AND p.id = w.id`,
    values: [wanted.map(({ runId }) => runId), wanted.map(({ id }) => id)],
  });
  return new Map(rows.map(({ id, body }) => [id, body]));
}
