import type { ClientBase } from 'pg';
import type { Audit } from './audit-store.ts';

/**
 * The numbers of runs whose log, usage and own total were compared (`compared`), of runs without usage to compare, and
 * of usage lines whose runs retention has purged (`dropped`).
 */
export type RunsAudited = { compared: number; withoutUsage: number; dropped: number };

type Run = { id: string; tenant_id: string; started_at: Date; credits: string; logged: string; total: string };
type Used = { run_id: string; used: string };

const RUNS_AT_ONCE = 500;
const USED_AT_ONCE = 5_000;

/**
 * Checks that the charge of each run is the same in its events, in its own total and in the usage. Merges two streams
 * that are sorted by id.
 */
export async function auditRuns(audit: Audit): Promise<void> {
  const used = new UsedByRun(audit.client, audit.tenantId);
  await used.open();
  for await (const run of runs(audit)) await auditRun(audit, run, used);
  await used.skipTo(null);
  audit.report.runs.dropped = used.skipped;
  if (used.skipped > 0)
    audit.report.notes.push(`${used.skipped} runs with usage are past their retention: they were not compared.`);
  if (audit.report.runs.withoutUsage > 0)
    audit.report.notes.push(
      `${audit.report.runs.withoutUsage} runs began when usage was kept that is past its retention: only their logs were compared.`,
    );
}

async function auditRun({ usageSince, report, differs }: Audit, run: Run, usage: UsedByRun): Promise<void> {
  const difference = (about: string, expected: string, found: string) =>
    differs({ check: 'runs', tenantId: run.tenant_id, about: `run ${run.id}${about}`, expected, found });
  // The row of a run is written later than its events if only its progress changes, so it is compared with the events
  // that it includes.
  if (run.credits !== run.logged) difference('', `${run.logged} by its events`, `${run.credits} in its row`);
  const used = (await usage.of(run.id)) ?? '0';
  if (usageSince !== null && run.started_at < usageSince) {
    report.runs.withoutUsage += 1;
    return;
  }
  report.runs.compared += 1;
  if (used !== run.total) difference(', usage', `${run.total} by its events`, `${used} in the usage`);
}

/** Yields runs sorted by id, with their costs according to their events: those up to the last event that the row includes, and all. */
async function* runs({ client, tenantId }: Audit): AsyncGenerator<Run> {
  let after = '00000000-0000-0000-0000-000000000000';
  for (;;) {
    const { rows } = await client.query<Run>(
      `WITH page AS MATERIALIZED (
         SELECT id, tenant_id, started_at, credits_microcredits, last_seq FROM runs
         WHERE id > $1 AND ($2::text IS NULL OR tenant_id = $2) ORDER BY id LIMIT ${RUNS_AT_ONCE})
       SELECT p.id, p.tenant_id, p.started_at, p.credits_microcredits AS credits, e.logged, e.total
       FROM page p CROSS JOIN LATERAL (
         SELECT coalesce(sum((data->>'credits')::bigint) FILTER (WHERE seq <= p.last_seq), 0) AS logged,
                coalesce(sum((data->>'credits')::bigint), 0) AS total
         FROM run_events WHERE run_id = p.id AND event_type IN ('step_completed', 'step_failed', 'step_retrying')) e
       ORDER BY p.id`,
      [after, tenantId ?? null],
    );
    yield* rows;
    const last = rows.at(-1);
    if (last === undefined || rows.length < RUNS_AT_ONCE) return;
    after = last.id;
  }
}

/** The charges of each run according to the usage, sorted by id. The database sorts them, on disk if necessary. */
class UsedByRun {
  readonly #client: ClientBase;
  readonly #tenantId: string | null;
  #page: Used[] = [];
  #at = 0;
  #ended = false;
  /** The number of runs in the stream that the caller did not ask for. */
  skipped = 0;

  constructor(client: ClientBase, tenantId: string | undefined) {
    this.#client = client;
    this.#tenantId = tenantId ?? null;
  }

  /** A cursor takes no parameters, so the value is a literal. */
  async open(): Promise<void> {
    await this.#client.query(
      `DECLARE used_by_run NO SCROLL CURSOR FOR
       SELECT run_id, sum(used)::bigint AS used FROM (
         SELECT (l->>0)::uuid AS run_id, (l->>3)::bigint * (u.microcredits / greatest(u.quantity, 1)) AS used
         FROM run_usage u CROSS JOIN LATERAL json_array_elements(u.attempts) l
         WHERE u.microcredits > 0 ${this.#tenantId === null ? '' : `AND u.tenant_id = ${this.#client.escapeLiteral(this.#tenantId)}`}) lines
       GROUP BY run_id ORDER BY run_id`,
    );
  }

  /** Returns the charge of a run. The caller must ask in the order of ids. */
  async of(runId: string): Promise<string | null> {
    await this.skipTo(runId);
    const next = await this.#next();
    if (next?.run_id !== runId) return null;
    this.#at += 1;
    return next.used;
  }

  async skipTo(runId: string | null): Promise<void> {
    for (let next = await this.#next(); next !== null; next = await this.#next()) {
      if (runId !== null && next.run_id >= runId) return;
      this.#at += 1;
      this.skipped += 1;
    }
  }

  async #next(): Promise<Used | null> {
    if (this.#at === this.#page.length && !this.#ended) {
      const { rows } = await this.#client.query<Used>(`FETCH ${USED_AT_ONCE} FROM used_by_run`);
      this.#page = rows;
      this.#at = 0;
      this.#ended = rows.length < USED_AT_ONCE;
    }
    return this.#page[this.#at] ?? null;
  }
}
