import type { BinaryType } from './binary-array.ts';

/**
 * How a list of values is passed:
 * - `binary`: a binary array, for UUIDs and numbers;
 * - `joined`: joined by U+001E, for fixed words, ids of steps and JSON text, which cannot contain it unescaped. An
 *   array literal would escape every event twice;
 * - `array`: the driver's own array, for any text.
 */
export type Field =
  | readonly [name: string, type: BinaryType, form: 'binary']
  | readonly [name: string, type: 'text', form: 'joined']
  | readonly [name: string, type: 'text' | 'bool', form: 'array'];

/**
 * A data-modifying part of the statement. `fields` are the columns of its rows; `sql` receives the source of the rows.
 */
export type Part = {
  name: string;
  fields: readonly Field[];
  sql: (rows: string) => string;
};

export const uuid = (name: string): Field => [name, 'uuid', 'binary'];
export const int = (name: string): Field => [name, 'int', 'binary'];
export const bigint = (name: string): Field => [name, 'bigint', 'binary'];
/** ms since the epoch. */
export const time = (name: string): Field => [name, 'float8', 'binary'];
/** One of a few fixed words. */
export const word = (name: string): Field => [name, 'text', 'joined'];
/** JSON text, or a step's id; empty if there is none. */
export const joined = (name: string): Field => [name, 'text', 'joined'];
export const text = (name: string): Field => [name, 'text', 'array'];

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

/** A step that is repeated after a person's decision may ask again, if it was lost again. */
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
    text('to_decide'),
    text('form'),
    text('assignees'),
    time('created_at'),
    time('due_at'),
    word('state'),
    ['approved', 'bool', 'array'],
    text('completed_by'),
    time('completed_at'),
  ],
  sql: rows => `INSERT INTO human_tasks (run_id, step_id, tenant_id, project_id, workflow_id, name, instructions, to_decide, form, assignees,
                           created_at, due_at, state, approved, completed_by, completed_at)
  SELECT run_id, step, tenant_id, project_id, workflow_id, name, instructions, to_decide, form::json,
         ARRAY(SELECT json_array_elements_text(assignees::json)), to_timestamp(created_at / 1000),
         to_timestamp(due_at / 1000), state, approved, completed_by, to_timestamp(completed_at / 1000)
  FROM ${rows}
  ON CONFLICT (run_id, step_id) DO UPDATE SET
    name = EXCLUDED.name, instructions = EXCLUDED.instructions, to_decide = EXCLUDED.to_decide, form = EXCLUDED.form, assignees = EXCLUDED.assignees,
    created_at = EXCLUDED.created_at, due_at = EXCLUDED.due_at, state = EXCLUDED.state, approved = EXCLUDED.approved,
    completed_by = EXCLUDED.completed_by, completed_at = EXCLUDED.completed_at, seq = EXCLUDED.seq,
    assigned_to = EXCLUDED.assigned_to, assigned_by = NULL, assigned_at = NULL`,
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

/** Runs that were called by a step. Ordinary starts write nothing here. */
export const childRuns: Part = {
  name: 'child_runs',
  fields: [
    uuid('run_id'),
    uuid('parent_run_id'),
    uuid('parent_workflow_id'),
    joined('parent_step'),
    ['detached', 'bool', 'array'],
  ],
  sql: rows => `INSERT INTO child_runs (run_id, parent_run_id, parent_workflow_id, parent_step_id, detached)
  SELECT run_id, parent_run_id, parent_workflow_id, parent_step, detached FROM ${rows}`,
};

/** Runs beneath another one. Ordinary starts write nothing here. */
export const descendants: Part = {
  name: 'descendants',
  fields: [uuid('run_id'), uuid('root')],
  sql: rows => `INSERT INTO run_descendants (run_id, root_run_id) SELECT run_id, root FROM ${rows}
  ON CONFLICT (run_id) DO NOTHING`,
};

/** Values of searchable fields; runs of workflows without searchable fields write nothing here. */
export const searchValues: Part = {
  name: 'search_values',
  fields: [uuid('run_id'), joined('name'), text('value'), uuid('project_id'), time('started_at')],
  sql: rows => `INSERT INTO run_search_values (run_id, name, value, project_id, started_at)
  SELECT run_id, name, value, project_id, to_timestamp(started_at / 1000) FROM ${rows}
  ON CONFLICT (run_id, name) DO NOTHING`,
};

/**
 * The usage, which is the charge: accounts are counted from it. A joined list of one empty text arrives as an
 * empty list, hence `coalesce`.
 */
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
