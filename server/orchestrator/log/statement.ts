import type { LogEntry, NewRun, TaskChange } from './entry.ts';

/**
 * The one statement that commits a batch: events, payloads, the runs projection and the inbox together, in one round
 * trip (engine.md, Group commit). Lists that may hold any text travel joined by U+001E, which JSON text cannot contain
 * unescaped: that costs a join and a split, where array literals would cost escaping every event twice.
 */
const TEXT = `
WITH event_rows AS (
  INSERT INTO run_events (run_id, seq, event_type, step_id, attempt, data, created_at)
  SELECT e.run_id, e.seq, e.type, nullif(e.step, ''), e.attempt, e.data::json, to_timestamp(e.at / 1000)
  FROM unnest($1::uuid[], $2::int[], $3::text[], string_to_array($4, E'\\x1e'), $5::int[],
              string_to_array($6, E'\\x1e'), $7::float8[]) AS e(run_id, seq, type, step, attempt, data, at)
), payload_rows AS (
  INSERT INTO run_payloads (id, run_id, body, created_at)
  SELECT p.id, p.run_id, p.body::json, to_timestamp(p.at / 1000)
  FROM unnest($8::uuid[], $9::uuid[], string_to_array($10, E'\\x1e'), $11::float8[]) AS p(id, run_id, body, at)
), new_runs AS (
  INSERT INTO runs (id, tenant_id, project_id, workflow_id, version, session_id, trigger_type, started_by, started_at,
                    steps_total, status, orchestration_phase, steps_done, pending_tasks, last_seq, ended_at, error,
                    next_timer_at)
  SELECT n.id, n.tenant_id, n.project_id, n.workflow_id, n.version, n.session_id, n.trigger_type, n.started_by,
         to_timestamp(n.started_at / 1000), n.steps_total, n.status, n.phase, n.done, n.pending, n.seq,
         to_timestamp(n.ended_at / 1000), n.error::jsonb, to_timestamp(n.timer_at / 1000)
  FROM unnest($12::uuid[], $13::text[], $14::uuid[], $15::uuid[], $16::int[], $17::text[], $18::text[], $19::text[],
              $20::float8[], $21::int[], $22::text[], $23::text[], $24::int[], $25::int[], $26::int[], $27::float8[],
              $28::text[], $29::float8[])
       AS n(id, tenant_id, project_id, workflow_id, version, session_id, trigger_type, started_by, started_at,
            steps_total, status, phase, done, pending, seq, ended_at, error, timer_at)
), moved_runs AS (
  UPDATE runs SET status = m.status, orchestration_phase = m.phase, steps_done = m.done, pending_tasks = m.pending,
                  last_seq = m.seq, ended_at = to_timestamp(m.ended_at / 1000), error = nullif(m.error, '')::jsonb,
                  next_timer_at = to_timestamp(m.timer_at / 1000)
  FROM unnest($30::uuid[], $31::text[], $32::text[], $33::int[], $34::int[], $35::int[], $36::float8[],
              string_to_array($37, E'\\x1e'), $38::float8[])
       AS m(id, status, phase, done, pending, seq, ended_at, error, timer_at)
  WHERE runs.id = m.id
), asked_tasks AS (
  INSERT INTO human_tasks (run_id, step_id, tenant_id, project_id, workflow_id, name, instructions, form, assignees,
                           created_at, due_at, state, approved, completed_by, completed_at)
  SELECT a.run_id, a.step, a.tenant_id, a.project_id, a.workflow_id, a.name, a.instructions, a.form::jsonb,
         ARRAY(SELECT json_array_elements_text(a.assignees::json)), to_timestamp(a.created_at / 1000),
         to_timestamp(a.due_at / 1000), a.state, a.approved, a.completed_by, to_timestamp(a.completed_at / 1000)
  FROM unnest($39::uuid[], $40::text[], $41::text[], $42::uuid[], $43::uuid[], $44::text[], $45::text[], $46::text[],
              $47::text[], $48::float8[], $49::float8[], $50::text[], $51::bool[], $52::text[], $53::float8[])
       AS a(run_id, step, tenant_id, project_id, workflow_id, name, instructions, form, assignees, created_at, due_at,
            state, approved, completed_by, completed_at)
), ended_tasks AS (
  UPDATE human_tasks SET state = t.state, approved = t.approved, completed_by = t.completed_by,
                         completed_at = to_timestamp(t.completed_at / 1000)
  FROM unnest($54::uuid[], $55::text[], $56::text[], $57::bool[], $58::text[], $59::float8[])
       AS t(run_id, step, state, approved, completed_by, completed_at)
  WHERE human_tasks.run_id = t.run_id AND human_tasks.step_id = t.step
)
SELECT 1`;

const SEPARATOR = '\u001e';
/** An array literal of values that need no quoting: UUIDs, numbers, fixed words. */
const literal = (values: readonly (string | number | null)[]): string =>
  `{${values.map(value => value ?? 'NULL').join(',')}}`;

type AskedTask = TaskChange & { asked: NonNullable<TaskChange['asked']> };

/** The query that writes `batch`; prepared under its name on first use. */
export function commitStatement(batch: readonly LogEntry[]): { name: string; text: string; values: unknown[] } {
  const asked: { runId: string; task: AskedTask }[] = [];
  const ended: { runId: string; task: TaskChange }[] = [];
  for (const { runId, tasks } of batch) {
    for (const task of tasks) {
      if (isAsked(task)) asked.push({ runId, task });
      else ended.push({ runId, task });
    }
  }
  const values = [
    ...eventValues(batch),
    ...payloadValues(batch),
    ...newRunValues(batch),
    ...movedRunValues(batch),
    ...askedTaskValues(asked),
    ...endedTaskValues(ended),
  ];
  return { name: 'commit_batch', text: TEXT, values };
}

const isAsked = (task: TaskChange): task is AskedTask => task.asked !== null;

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
  const payloads = batch.flatMap(({ runId, payloads }) => payloads.map(payload => ({ runId, payload })));
  return [
    literal(payloads.map(({ payload }) => payload.id)),
    literal(payloads.map(({ runId }) => runId)),
    payloads.map(({ payload }) => payload.json).join(SEPARATOR),
    literal(payloads.map(({ payload }) => payload.at)),
  ];
}

const lastSeq = (entry: LogEntry): number => entry.rows.at(-1)?.seq ?? 0;

function newRunValues(batch: readonly LogEntry[]): unknown[] {
  const entries = batch.filter((entry): entry is LogEntry & { created: NewRun } => entry.created !== undefined);
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
    entries.map(lastSeq),
    entries.map(entry => entry.projection.endedAt),
    entries.map(entry => entry.projection.error),
    entries.map(entry => entry.projection.nextTimerAt),
  ];
}

function movedRunValues(batch: readonly LogEntry[]): string[] {
  const entries = batch.filter(entry => entry.created === undefined);
  return [
    literal(entries.map(entry => entry.runId)),
    literal(entries.map(entry => entry.projection.status)),
    literal(entries.map(entry => entry.projection.phase)),
    literal(entries.map(entry => entry.projection.stepsDone)),
    literal(entries.map(entry => entry.projection.pendingTasks)),
    literal(entries.map(lastSeq)),
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
