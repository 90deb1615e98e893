import type { NewRun, RunProjection } from './entry.ts';
import { bigint, type Field, int, joined, type Part, text, time, uuid, word } from './tables.ts';

/** A column of `runs`: the field that carries its value, and the SQL expression that converts it. */
type RunColumn = { name: string; field: Field; stored: (value: string) => string };

const asGiven = (value: string): string => value;
const fromMs = (value: string): string => `to_timestamp(${value} / 1000)`;
const column = (name: string, field: Field, stored = asGiven): RunColumn => ({ name, field, stored });

/** Columns that the first commit of a run writes and that never change; the parent and the root are in separate tables. */
const newRunColumns: Record<Exclude<keyof NewRun, 'parent' | 'root'>, RunColumn> = {
  tenantId: column('tenant_id', text('tenant_id')),
  projectId: column('project_id', uuid('project_id')),
  workflowId: column('workflow_id', uuid('workflow_id')),
  version: column('version', int('version')),
  sessionId: column('session_id', text('session_id')),
  triggerType: column('trigger_type', text('trigger_type')),
  startedBy: column('started_by', text('started_by')),
  startedAt: column('started_at', time('started_at'), fromMs),
  stepsTotal: column('steps_total', int('steps_total')),
  spenderId: column('spender_id', uuid('spender_id')),
  rerunOf: column('rerun_of', uuid('rerun_of')),
};

/**
 * Columns that change while a run advances. The fields, INSERT, UPDATE and parameters of the commit are all derived
 * from this table, in its order: a new field of RunProjection is one line here.
 */
const projectionColumns: Record<keyof RunProjection, RunColumn> = {
  status: column('status', word('status')),
  phase: column('orchestration_phase', word('phase')),
  stepsDone: column('steps_done', int('done')),
  stepsSkipped: column('steps_skipped', int('skipped')),
  pendingTasks: column('pending_tasks', int('pending')),
  lastSeq: column('last_seq', int('seq')),
  endedAt: column('ended_at', time('ended_at'), fromMs),
  error: column('error', joined('error'), value => `nullif(${value}, '')::jsonb`),
  nextTimerAt: column('next_timer_at', time('timer_at'), fromMs),
  credits: column('credits_microcredits', bigint('credits')),
};

const key = column('id', uuid('id'));
const inserted = [
  key,
  ...Object.values(newRunColumns),
  // `error` is an ordinary array here, in which null needs no empty text: a run seldom ends with its first events.
  ...Object.values({ ...projectionColumns, error: column('error', text('error'), value => `${value}::jsonb`) }),
];
const updated = Object.values(projectionColumns);

const fieldName = ({ field: [name] }: RunColumn): string => name;
const insertedNames = inserted.map(({ name }) => name).join(', ');
const insertedValues = inserted.map(each => each.stored(fieldName(each))).join(', ');
const assignments = updated.map(each => `${each.name} = ${each.stored(`v.${fieldName(each)}`)}`).join(', ');

/** The kind of a workflow never changes. As a scalar, because PostgreSQL could read all workflows for an EXISTS. */
const HIDDEN = `coalesce((SELECT w.kind <> 'workflow' FROM workflows w WHERE w.id = v.workflow_id), false)`;

export const newRuns: Part = {
  name: 'new_runs',
  fields: inserted.map(({ field }) => field),
  sql: rows => `INSERT INTO runs (${insertedNames}, hidden)
  SELECT ${insertedValues}, ${HIDDEN}
  FROM ${rows}`,
};

/**
 * Progress that is written without events is not fenced by their key, so `last_seq` keeps it from
 * resetting a run to an older state.
 */
export const movedRuns: Part = {
  name: 'moved_runs',
  fields: [key, ...updated].map(({ field }) => field),
  sql: rows => `UPDATE runs SET ${assignments}
  FROM ${rows} WHERE runs.id = v.id AND runs.last_seq <= v.seq`,
};

const NEW_RUN_FIELDS = Object.keys(newRunColumns) as (keyof typeof newRunColumns)[];
/** The fields of RunProjection, in the order of their columns in the statement. */
export const RUN_PROJECTION_FIELDS = Object.keys(projectionColumns) as readonly (keyof RunProjection)[];

export type MovedRun = { runId: string; projection: RunProjection };

/** Returns the rows of `newRuns`, column by column. */
export function newRunRows(runs: readonly (MovedRun & { created: NewRun })[]): readonly (readonly unknown[])[] {
  const [ids = [], ...projections] = movedRunRows(runs);
  return [ids, ...NEW_RUN_FIELDS.map(name => runs.map(run => run.created[name] ?? null)), ...projections];
}

/** Returns the rows of `movedRuns`, column by column. */
export function movedRunRows(runs: readonly MovedRun[]): readonly (readonly unknown[])[] {
  return [runs.map(run => run.runId), ...RUN_PROJECTION_FIELDS.map(name => runs.map(run => run.projection[name]))];
}
