import type { Pool } from 'pg';
import type { JsonMap, JsonValue, RunEvent } from '../core/index.ts';
import type { CommittedEvent } from '../ports/orchestrator.ts';
import { expandRow, STEPS_SKIPPED, skipsStep } from './compact-skips.ts';
import { decodeEvent, payloadRefs, type StoredEvent } from './decode.ts';

/** The fields of a run's row that the runtime needs, and all its events in order, with payloads filled in. */
export type LoggedRun = {
  runId: string;
  tenantId: string;
  projectId: string;
  workflowId: string;
  version: number;
  events: RunEvent[];
};

const EVENT_COLUMNS = 'seq, event_type, step_id, attempt, data, created_at';

/**
 * Reads any number of whole runs in three round trips. Runs that do not exist are absent from the result. The caller
 * limits the number of `runIds`. The tenant is not a condition here: the runtime compares it with the caller's (404).
 */
export async function readRuns(pool: Pool, runIds: readonly string[]): Promise<Map<string, LoggedRun>> {
  type RunRow = { id: string; tenant_id: string; project_id: string; workflow_id: string; version: number };
  const rows = await pool.query<RunRow>({
    name: 'log_read_runs',
    text: 'SELECT id, tenant_id, project_id, workflow_id, version FROM runs WHERE id = ANY($1::uuid[])',
    values: [runIds],
  });
  const runs = new Map<string, LoggedRun>();
  for (const row of rows.rows) {
    runs.set(row.id, {
      runId: row.id,
      tenantId: row.tenant_id,
      projectId: row.project_id,
      workflowId: row.workflow_id,
      version: row.version,
      events: [],
    });
  }
  if (runs.size === 0) return runs;
  const events = await pool.query<StoredEvent & { run_id: string }>({
    name: 'log_read_run_events',
    text: `SELECT run_id, ${EVENT_COLUMNS} FROM run_events WHERE run_id = ANY($1::uuid[]) ORDER BY run_id, seq`,
    values: [[...runs.keys()]],
  });
  await resolvePayloads(pool, events.rows);
  for (const row of events.rows) {
    const run = runs.get(row.run_id);
    for (const each of expandRow(row)) run?.events.push(decodeEvent(each));
  }
  // Every log has at least one event: retention deleted such a run between the two queries.
  for (const [runId, { events }] of runs) if (events.length === 0) runs.delete(runId);
  return runs;
}

/** Returns one whole run, or null. */
export async function readRun(pool: Pool, runId: string): Promise<LoggedRun | null> {
  return (await readRuns(pool, [runId])).get(runId) ?? null;
}

/** Fills in the values of the rows' data that were stored externally. */
async function resolvePayloads(pool: Pool, rows: readonly { run_id: string; data: JsonMap }[]): Promise<void> {
  const wanted = rows.flatMap(row =>
    payloadRefs(row.data).map(({ field, ref }) => ({ row, field, id: ref.payload_id })),
  );
  if (wanted.length === 0) return;
  const found = await pool.query<{ id: string; body: JsonValue }>({
    name: 'log_read_payloads',
    // The run's id determines the partition of the payload, and the key begins with it.
    text: `SELECT p.id, p.body FROM unnest($1::uuid[], $2::uuid[]) AS w(run_id, id)
           JOIN run_payloads p ON p.run_id = w.run_id AND p.id = w.id`,
    values: [wanted.map(({ row }) => row.run_id), wanted.map(({ id }) => id)],
  });
  const bodies = new Map(found.rows.map(({ id, body }) => [id, body]));
  for (const { row, field, id } of wanted) {
    const body = bodies.get(id);
    if (body === undefined) throw new Error(`payload ${id} is missing`);
    delete row.data[`${field}_ref`];
    row.data[field] = body;
  }
}

/**
 * Returns a page of a run's events in order, for lists and for the replay of a stream. Values that are
 * stored externally stay references. The tenant is a condition: another tenant's run reads as empty. `limit`
 * is the maximum number of events.
 *
 * A row may stand for several events, so `after` may be in the middle of one: the last row up to it is read as well.
 */
export async function readEvents(
  pool: Pool,
  query: {
    tenantId: string;
    runId: string;
    after: number;
    limit: number;
    stepId?: string;
    types?: readonly string[];
    contains?: string;
  },
): Promise<CommittedEvent[]> {
  type Row = StoredEvent & { tenant_id: string; project_id: string; workflow_id: string };
  const { rows } = await pool.query<Row>({
    name: 'log_read_events',
    text: `SELECT r.tenant_id, r.project_id, r.workflow_id, e.seq, e.event_type, e.step_id, e.attempt, e.data, e.created_at
           FROM run_events e JOIN runs r ON r.id = e.run_id
           WHERE e.run_id = $1 AND r.tenant_id = $2
             AND e.seq >= coalesce((SELECT max(b.seq) FROM run_events b WHERE b.run_id = $1 AND b.seq <= $3), 0)
             AND (e.seq > $3 OR e.event_type = '${STEPS_SKIPPED}')
             AND ($5::text IS NULL OR e.step_id = $5 OR ${skipsStep('$5')})
             AND ($6::text[] IS NULL OR e.event_type = ANY($6)
                  OR (e.event_type = '${STEPS_SKIPPED}' AND 'step_completed' = ANY($6)))
             AND ($7::text IS NULL OR e.event_type ILIKE $7 OR e.step_id ILIKE $7 OR e.data::text ILIKE $7
                  OR (e.event_type = '${STEPS_SKIPPED}' AND 'step_completed' ILIKE $7))
           ORDER BY e.seq LIMIT $4::int + 1`,
    values: [
      query.runId,
      query.tenantId,
      query.after,
      query.limit,
      query.stepId ?? null,
      query.types ?? null,
      query.contains === undefined ? null : `%${query.contains.replace(/[\\%_]/g, '\\$&')}%`,
    ],
  });
  const shown = rows
    .flatMap(row => containing(expandRow(row), query.contains))
    .filter(row => row.seq > query.after && (query.stepId === undefined || row.step_id === query.stepId));
  return shown.slice(0, query.limit).map(row => ({
    seq: row.seq,
    runId: query.runId,
    tenantId: row.tenant_id,
    projectId: row.project_id,
    workflowId: row.workflow_id,
    event: decodeEvent(row),
  }));
}

/** Returns the events of a row that contain the text; all of them if only the row itself contains it. */
function containing<Row extends StoredEvent>(events: readonly Row[], text: string | undefined): readonly Row[] {
  if (text === undefined || events.length < 2) return events;
  const wanted = text.toLowerCase();
  const found = events.filter(({ event_type, step_id, data }) =>
    `${event_type} ${step_id ?? ''} ${JSON.stringify(data)}`.toLowerCase().includes(wanted),
  );
  return found.length > 0 ? found : events;
}

/** Returns a value that was stored externally, or undefined if the run, the tenant or the payload does not match. */
export async function readPayload(
  pool: Pool,
  query: { tenantId: string; runId: string; payloadId: string },
): Promise<JsonValue | undefined> {
  const { rows } = await pool.query<{ body: JsonValue }>({
    name: 'log_read_payload',
    text: `SELECT p.body FROM run_payloads p JOIN runs r ON r.id = p.run_id
           WHERE p.id = $1 AND p.run_id = $2 AND r.tenant_id = $3`,
    values: [query.payloadId, query.runId, query.tenantId],
  });
  return rows[0]?.body;
}
