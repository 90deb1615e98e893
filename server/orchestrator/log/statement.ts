import { newId } from '../../platform/ids.ts';
import type { BillableAction, LogEntry, NewRun, RunProjection, TaskChange, UsageOwner } from './entry.ts';

/**
 * One part of the statement: a data-modifying common table expression over parameters of its own. `$1` is the part's
 * first parameter; `statementOf` moves them to their place.
 */
type Part = { name: string; sql: string; parameters: number };

const events: Part = {
  name: 'events',
  parameters: 7,
  sql: `INSERT INTO run_events (run_id, seq, event_type, step_id, attempt, data, created_at)
  SELECT e.run_id, e.seq, e.type, nullif(e.step, ''), e.attempt, e.data::json, to_timestamp(e.at / 1000)
  FROM unnest($1::uuid[], $2::int[], $3::text[], string_to_array($4, E'\\x1e'), $5::int[],
              string_to_array($6, E'\\x1e'), $7::float8[]) AS e(run_id, seq, type, step, attempt, data, at)`,
};

const payloads: Part = {
  name: 'payloads',
  parameters: 4,
  sql: `INSERT INTO run_payloads (id, run_id, body, created_at)
  SELECT p.id, p.run_id, p.body::json, to_timestamp(p.at / 1000)
  FROM unnest($1::uuid[], $2::uuid[], string_to_array($3, E'\\x1e'), $4::float8[]) AS p(id, run_id, body, at)`,
};

const newRuns: Part = {
  name: 'new_runs',
  parameters: 18,
  sql: `INSERT INTO runs (id, tenant_id, project_id, workflow_id, version, session_id, trigger_type, started_by, started_at,
                    steps_total, status, orchestration_phase, steps_done, pending_tasks, last_seq, ended_at, error,
                    next_timer_at)
  SELECT n.id, n.tenant_id, n.project_id, n.workflow_id, n.version, n.session_id, n.trigger_type, n.started_by,
         to_timestamp(n.started_at / 1000), n.steps_total, n.status, n.phase, n.done, n.pending, n.seq,
         to_timestamp(n.ended_at / 1000), n.error::jsonb, to_timestamp(n.timer_at / 1000)
  FROM unnest($1::uuid[], $2::text[], $3::uuid[], $4::uuid[], $5::int[], $6::text[], $7::text[], $8::text[],
              $9::float8[], $10::int[], $11::text[], $12::text[], $13::int[], $14::int[], $15::int[], $16::float8[],
              $17::text[], $18::float8[])
       AS n(id, tenant_id, project_id, workflow_id, version, session_id, trigger_type, started_by, started_at,
            steps_total, status, phase, done, pending, seq, ended_at, error, timer_at)`,
};

/** Progress that is written without events is not fenced by their key: it may not take a run back. */
const movedRuns: Part = {
  name: 'moved_runs',
  parameters: 9,
  sql: `UPDATE runs SET status = m.status, orchestration_phase = m.phase, steps_done = m.done, pending_tasks = m.pending,
                  last_seq = m.seq, ended_at = to_timestamp(m.ended_at / 1000), error = nullif(m.error, '')::jsonb,
                  next_timer_at = to_timestamp(m.timer_at / 1000)
  FROM unnest($1::uuid[], $2::text[], $3::text[], $4::int[], $5::int[], $6::int[], $7::float8[],
              string_to_array($8, E'\\x1e'), $9::float8[])
       AS m(id, status, phase, done, pending, seq, ended_at, error, timer_at)
  WHERE runs.id = m.id AND runs.last_seq <= m.seq`,
};

const askedTasks: Part = {
  name: 'asked_tasks',
  parameters: 15,
  sql: `INSERT INTO human_tasks (run_id, step_id, tenant_id, project_id, workflow_id, name, instructions, form, assignees,
                           created_at, due_at, state, approved, completed_by, completed_at)
  SELECT a.run_id, a.step, a.tenant_id, a.project_id, a.workflow_id, a.name, a.instructions, a.form::json,
         ARRAY(SELECT json_array_elements_text(a.assignees::json)), to_timestamp(a.created_at / 1000),
         to_timestamp(a.due_at / 1000), a.state, a.approved, a.completed_by, to_timestamp(a.completed_at / 1000)
  FROM unnest($1::uuid[], $2::text[], $3::text[], $4::uuid[], $5::uuid[], $6::text[], $7::text[], $8::text[],
              $9::text[], $10::float8[], $11::float8[], $12::text[], $13::bool[], $14::text[], $15::float8[])
       AS a(run_id, step, tenant_id, project_id, workflow_id, name, instructions, form, assignees, created_at, due_at,
            state, approved, completed_by, completed_at)`,
};

const endedTasks: Part = {
  name: 'tasks_ended',
  parameters: 6,
  sql: `UPDATE human_tasks SET state = t.state, approved = t.approved, completed_by = t.completed_by,
                         completed_at = to_timestamp(t.completed_at / 1000)
  FROM unnest($1::uuid[], $2::text[], $3::text[], $4::bool[], $5::text[], $6::float8[])
       AS t(run_id, step, state, approved, completed_by, completed_at)
  WHERE human_tasks.run_id = t.run_id AND human_tasks.step_id = t.step`,
};

const usage: Part = {
  name: 'usage',
  parameters: 8,
  sql: `INSERT INTO run_usage (id, tenant_id, project_id, workflow_id, action, quantity, attempts, created_at)
  SELECT u.id, u.tenant_id, u.project_id, u.workflow_id, u.action, u.quantity, u.attempts::json,
         to_timestamp(u.at / 1000)
  FROM unnest($1::uuid[], $2::text[], $3::uuid[], $4::uuid[], $5::text[], $6::bigint[], string_to_array($7, E'\\x1e'),
              $8::float8[]) AS u(id, tenant_id, project_id, workflow_id, action, quantity, attempts, at)`,
};

const texts = new Map<string, string>();

/** The statement made of `parts`; there are at most 128, each prepared once. */
function statementOf(parts: readonly Part[]): { name: string; text: string } {
  // Initials: PostgreSQL cuts the name of a prepared statement at 63 characters.
  const name = `commit_${parts.map(part => part.name.slice(0, 1)).join('')}`;
  let text = texts.get(name);
  if (text === undefined) {
    let before = 0;
    const tables = parts.map(part => {
      const offset = before;
      before += part.parameters;
      const sql = part.sql.replace(/\$(\d+)/g, (_, number: string) => `$${Number(number) + offset}`);
      return `${part.name} AS (\n  ${sql}\n)`;
    });
    text = `WITH ${tables.join(', ')}\nSELECT 1`;
    texts.set(name, text);
  }
  return { name, text };
}

const SEPARATOR = '\u001e';
/** An array literal of values that need no quoting: UUIDs, numbers, fixed words. */
const literal = (values: readonly (string | number | null)[]): string =>
  `{${values.map(value => value ?? 'NULL').join(',')}}`;

type AskedTask = TaskChange & { asked: NonNullable<TaskChange['asked']> };

/**
 * The one statement that commits a batch: events, payloads, the runs projection and the inbox together, in one round
 * trip (engine.md, Group commit). Only the parts that the batch needs are in it: setting up all of them costs ~0.3 ms,
 * as much as a whole commit of a lone step. Lists that may hold any text travel joined by U+001E, which JSON text cannot
 * contain unescaped: a join and a split, where array literals would cost escaping every event twice.
 */
export function commitStatement(batch: readonly LogEntry[]): { name: string; text: string; values: unknown[] } {
  const parts: Part[] = [];
  const values: unknown[] = [];
  const add = (part: Part, partValues: readonly unknown[]) => {
    parts.push(part);
    values.push(...partValues);
  };
  if (batch.some(entry => entry.rows.length > 0)) add(events, eventValues(batch));
  if (batch.some(entry => entry.payloads.length > 0)) add(payloads, payloadValues(batch));
  if (batch.some(entry => entry.created !== undefined)) add(newRuns, newRunValues(batch));
  if (batch.some(isMoved)) add(movedRuns, movedRunValues(batch));
  if (batch.some(entry => entry.tasks.length > 0)) addTasks(batch, add);
  if (batch.some(entry => entry.usage.length > 0)) add(usage, usageValues(batch));
  return { ...statementOf(parts), values };
}

function addTasks(batch: readonly LogEntry[], add: (part: Part, values: readonly unknown[]) => void): void {
  const asked: { runId: string; task: AskedTask }[] = [];
  const ended: { runId: string; task: TaskChange }[] = [];
  for (const { runId, tasks } of batch) {
    for (const task of tasks) {
      if (isAsked(task)) asked.push({ runId, task });
      else ended.push({ runId, task });
    }
  }
  if (asked.length > 0) add(askedTasks, askedTaskValues(asked));
  if (ended.length > 0) add(endedTasks, endedTaskValues(ended));
}

const isAsked = (task: TaskChange): task is AskedTask => task.asked !== null;

type Created = LogEntry & { created: NewRun; projection: RunProjection };
type Moved = LogEntry & { projection: RunProjection };

const isCreated = (entry: LogEntry): entry is Created => entry.created !== undefined && entry.projection !== null;
const isMoved = (entry: LogEntry): entry is Moved => entry.created === undefined && entry.projection !== null;

function eventValues(batch: readonly LogEntry[]): string[] {
  const runs: string[] = [];
  const seqs: number[] = [];
  const types: string[] = [];
  const steps: string[] = [];
  const attempts: (number | null)[] = [];
  const data: string[] = [];
  const times: number[] = [];
  for (const { runId, rows } of batch) {
    for (const row of rows) {
      runs.push(runId);
      seqs.push(row.seq);
      types.push(row.type);
      steps.push(row.step ?? '');
      attempts.push(row.attempt);
      data.push(row.json);
      times.push(row.at);
    }
  }
  return [
    literal(runs),
    literal(seqs),
    literal(types),
    steps.join(SEPARATOR),
    literal(attempts),
    data.join(SEPARATOR),
    literal(times),
  ];
}

function payloadValues(batch: readonly LogEntry[]): string[] {
  const rows = batch.flatMap(entry => entry.payloads.map(payload => ({ runId: entry.runId, payload })));
  return [
    literal(rows.map(({ payload }) => payload.id)),
    literal(rows.map(({ runId }) => runId)),
    rows.map(({ payload }) => payload.json).join(SEPARATOR),
    literal(rows.map(({ payload }) => payload.at)),
  ];
}

function newRunValues(batch: readonly LogEntry[]): unknown[] {
  const entries = batch.filter(isCreated);
  const of = (pick: (run: NewRun) => unknown): unknown[] => entries.map(entry => pick(entry.created));
  return [
    entries.map(entry => entry.runId),
    of(run => run.tenantId),
    of(run => run.projectId),
    of(run => run.workflowId),
    of(run => run.version),
    of(run => run.sessionId),
    of(run => run.triggerType),
    of(run => run.startedBy),
    of(run => run.startedAt),
    of(run => run.stepsTotal),
    entries.map(entry => entry.projection.status),
    entries.map(entry => entry.projection.phase),
    entries.map(entry => entry.projection.stepsDone),
    entries.map(entry => entry.projection.pendingTasks),
    entries.map(entry => entry.projection.lastSeq),
    entries.map(entry => entry.projection.endedAt),
    entries.map(entry => entry.projection.error),
    entries.map(entry => entry.projection.nextTimerAt),
  ];
}

function movedRunValues(batch: readonly LogEntry[]): string[] {
  const entries = batch.filter(isMoved);
  return [
    literal(entries.map(entry => entry.runId)),
    literal(entries.map(entry => entry.projection.status)),
    literal(entries.map(entry => entry.projection.phase)),
    literal(entries.map(entry => entry.projection.stepsDone)),
    literal(entries.map(entry => entry.projection.pendingTasks)),
    literal(entries.map(entry => entry.projection.lastSeq)),
    literal(entries.map(entry => entry.projection.endedAt)),
    entries.map(entry => entry.projection.error ?? '').join(SEPARATOR),
    literal(entries.map(entry => entry.projection.nextTimerAt)),
  ];
}

function askedTaskValues(asked: readonly { runId: string; task: AskedTask }[]): unknown[] {
  const of = (pick: (task: AskedTask) => unknown): unknown[] => asked.map(({ task }) => pick(task));
  return [
    asked.map(({ runId }) => runId),
    of(task => task.step),
    of(task => task.asked.tenantId),
    of(task => task.asked.projectId),
    of(task => task.asked.workflowId),
    of(task => task.asked.name),
    of(task => task.asked.instructions),
    of(task => task.asked.form),
    of(task => JSON.stringify(task.asked.assignees)),
    of(task => task.asked.createdAt),
    of(task => task.asked.dueAt),
    of(task => task.state),
    of(task => task.approved),
    of(task => task.completedBy),
    of(task => task.completedAt),
  ];
}

function endedTaskValues(ended: readonly { runId: string; task: TaskChange }[]): unknown[] {
  return [
    ended.map(({ runId }) => runId),
    ended.map(({ task }) => task.step),
    ended.map(({ task }) => task.state),
    ended.map(({ task }) => task.approved),
    ended.map(({ task }) => task.completedBy),
    ended.map(({ task }) => task.completedAt),
  ];
}

type UsageLine = [runId: string, step: string, attempt: number, quantity: number];
type UsageOfCommit = { owner: UsageOwner; action: BillableAction; quantity: number; lines: UsageLine[]; at: number };

/** One row for each workflow and action in the batch, a line in it for each attempt. */
function usageValues(batch: readonly LogEntry[]): unknown[] {
  const groups = new Map<string, UsageOfCommit>();
  for (const { runId, owner, usage: rows } of batch) {
    for (const { step, attempt, action, quantity, at } of rows) {
      const key = `${action} ${owner.workflowId} ${owner.projectId} ${owner.tenantId}`;
      let group = groups.get(key);
      if (group === undefined) {
        group = { owner, action, quantity: 0, lines: [], at };
        groups.set(key, group);
      }
      group.quantity += quantity;
      group.lines.push([runId, step, attempt, quantity]);
    }
  }
  const rows = [...groups.values()];
  return [
    rows.map(() => newId()),
    rows.map(row => row.owner.tenantId),
    rows.map(row => row.owner.projectId),
    rows.map(row => row.owner.workflowId),
    rows.map(row => row.action),
    rows.map(row => row.quantity),
    rows.map(row => JSON.stringify(row.lines)).join(SEPARATOR),
    rows.map(row => row.at),
  ];
}
