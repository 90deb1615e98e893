import type { BinaryType } from './binary-array.ts';

/**
 * How a list of values travels: as an array in binary (UUIDs, numbers), joined by U+001E, which JSON text cannot contain
 * unescaped (fixed words, ids of steps and JSON text: an array literal would cost escaping every event twice), or as the
 * driver's own array of any text.
 */
export type Field =
  | readonly [name: string, type: BinaryType, form: 'binary']
  | readonly [name: string, type: 'text', form: 'joined']
  | readonly [name: string, type: 'text' | 'bool', form: 'array'];

/** A data-modifying part of the statement over rows of `fields`; `rows` is where they come from, with their names. */
export type Part = {
  name: string;
  fields: readonly Field[];
  sql: (rows: string) => string;
};

const uuid = (name: string): Field => [name, 'uuid', 'binary'];
const int = (name: string): Field => [name, 'int', 'binary'];
const bigint = (name: string): Field => [name, 'bigint', 'binary'];
/** ms since the epoch. */
const time = (name: string): Field => [name, 'float8', 'binary'];
/** One of a few fixed words. */
const word = (name: string): Field => [name, 'text', 'joined'];
/** JSON text, or a step's id; where there is none, it is empty. */
const joined = (name: string): Field => [name, 'text', 'joined'];
const text = (name: string): Field => [name, 'text', 'array'];

export const events: Part = {
  name: 'events',
  fields: [uuid('run_id'), int('seq'), word('type'), joined('step'), int('attempt'), joined('data'), time('at')],
  sql: rows => `INSERT INTO run_events (run_id, seq, event_type, step_id, attempt, data, created_at)
  SELECT run_id, seq, type, nullif(step, ''), attempt, data::json, to_timestamp(at / 1000) FROM ${rows}`,
};

export const payloads: Part = {
  name: 'payloads',
  fields: [uuid('id'), uuid('run_id'), joined('body'), time('at')],
  sql: rows => `INSERT INTO run_payloads (id, run_id, body, created_at)
  SELECT id, run_id, body::json, to_timestamp(at / 1000) FROM ${rows}`,
};

export const newRuns: Part = {
  name: 'new_runs',
  fields: [
    uuid('id'),
    text('tenant_id'),
    uuid('project_id'),
    uuid('workflow_id'),
    int('version'),
    text('session_id'),
    text('trigger_type'),
    text('started_by'),
    time('started_at'),
    int('steps_total'),
    word('status'),
    word('phase'),
    int('done'),
    int('pending'),
    int('seq'),
    time('ended_at'),
    text('error'),
    time('timer_at'),
    bigint('credits'),
  ],
  sql: rows => `INSERT INTO runs (id, tenant_id, project_id, workflow_id, version, session_id, trigger_type, started_by, started_at,
                    steps_total, status, orchestration_phase, steps_done, pending_tasks, last_seq, ended_at, error,
                    next_timer_at, credits_microcredits)
  SELECT id, tenant_id, project_id, workflow_id, version, session_id, trigger_type, started_by,
         to_timestamp(started_at / 1000), steps_total, status, phase, done, pending, seq, to_timestamp(ended_at / 1000),
         error::jsonb, to_timestamp(timer_at / 1000), credits
  FROM ${rows}`,
};

/** Progress that is written without events is not fenced by their key: it may not take a run back. */
export const movedRuns: Part = {
  name: 'moved_runs',
  fields: [
    uuid('id'),
    word('status'),
    word('phase'),
    int('done'),
    int('pending'),
    int('seq'),
    time('ended_at'),
    joined('error'),
    time('timer_at'),
    bigint('credits'),
  ],
  sql: rows => `UPDATE runs SET status = v.status, orchestration_phase = v.phase, steps_done = v.done, pending_tasks = v.pending,
                  last_seq = v.seq, ended_at = to_timestamp(v.ended_at / 1000), error = nullif(v.error, '')::jsonb,
                  next_timer_at = to_timestamp(v.timer_at / 1000), credits_microcredits = v.credits
  FROM ${rows} WHERE runs.id = v.id AND runs.last_seq <= v.seq`,
};

export const askedTasks: Part = {
  name: 'asked_tasks',
  fields: [
    uuid('run_id'),
    text('step'),
    text('tenant_id'),
    uuid('project_id'),
    uuid('workflow_id'),
    text('name'),
    text('instructions'),
    text('form'),
    text('assignees'),
    time('created_at'),
    time('due_at'),
    word('state'),
    ['approved', 'bool', 'array'],
    text('completed_by'),
    time('completed_at'),
  ],
  sql: rows => `INSERT INTO human_tasks (run_id, step_id, tenant_id, project_id, workflow_id, name, instructions, form, assignees,
                           created_at, due_at, state, approved, completed_by, completed_at)
  SELECT run_id, step, tenant_id, project_id, workflow_id, name, instructions, form::json,
         ARRAY(SELECT json_array_elements_text(assignees::json)), to_timestamp(created_at / 1000),
         to_timestamp(due_at / 1000), state, approved, completed_by, to_timestamp(completed_at / 1000)
  FROM ${rows}`,
};

export const endedTasks: Part = {
  name: 'tasks_ended',
  fields: [
    uuid('run_id'),
    text('step'),
    word('state'),
    ['approved', 'bool', 'array'],
    text('completed_by'),
    time('completed_at'),
  ],
  sql: rows => `UPDATE human_tasks SET state = v.state, approved = v.approved, completed_by = v.completed_by,
                         completed_at = to_timestamp(v.completed_at / 1000)
  FROM ${rows} WHERE human_tasks.run_id = v.run_id AND human_tasks.step_id = v.step`,
};

/** What was used, and so the charge: accounts are counted from it. A joined list of one empty text reads as no text at all. */
export const usage: Part = {
  name: 'usage',
  fields: [
    uuid('id'),
    text('tenant_id'),
    uuid('project_id'),
    uuid('workflow_id'),
    word('action'),
    bigint('quantity'),
    bigint('microcredits'),
    joined('attempts'),
    time('at'),
    word('step_type'),
    joined('subject'),
    word('outcome'),
    joined('started_by'),
  ],
  sql: rows => `INSERT INTO run_usage (id, tenant_id, project_id, workflow_id, action, quantity, microcredits, attempts, created_at,
                         step_type, subject, outcome, started_by)
  SELECT id, tenant_id, project_id, workflow_id, action, quantity, microcredits, attempts::json, to_timestamp(at / 1000),
         coalesce(step_type, ''), coalesce(subject, ''), coalesce(outcome, ''), coalesce(started_by, '') FROM ${rows}`,
};
