import { binaryArray } from './binary-array.ts';
import type { LogEntry, NewRun, RunProjection, TaskChange } from './entry.ts';
import { movedRunRows, movedRuns, newRunRows, newRuns } from './run-columns.ts';
import {
  askedTasks,
  childRuns,
  descendants,
  endedTasks,
  events,
  type Field,
  type Part,
  payloads,
  searchValues,
  usage,
} from './tables.ts';
import { usageColumns } from './usage-columns.ts';

/** The rows of a part, column by column. */
type Write = { part: Part; columns: readonly (readonly unknown[])[] };

/**
 * Up to this number, rows are passed one by one; above it, as arrays. Unnesting arrays has a setup cost: the commit of
 * a single step took 480 µs with arrays and takes 290 µs without. From about ten rows on, arrays are faster.
 */
const FEW = 4;
/** The number of prepared statements from which rows are always passed as arrays, because the database keeps each statement. */
const MAX_STATEMENTS = 250;
const SEPARATOR = '\u001e';
const texts = new Map<string, string>();

const rowsOf = ({ columns }: Write): number => columns[0]?.length ?? 0;
const isFew = (write: Write): boolean => rowsOf(write) <= FEW;

const nameOf = (writes: readonly Write[], few: (write: Write) => boolean): string =>
  // Initials only: PostgreSQL cuts the name of a prepared statement at 63 characters.
  `commit_${writes.map(write => `${write.part.name.slice(0, 1)}${few(write) ? rowsOf(write) : ''}`).join('')}`;

function textOf(writes: readonly Write[], few: (write: Write) => boolean): string {
  let before = 0;
  const parts = writes.map(write => {
    const { part } = write;
    const count = few(write) ? rowsOf(write) : 0;
    const rows = rowSource(part.fields, count, before);
    before += part.fields.length * Math.max(1, count);
    return { name: part.name, sql: part.sql(rows) };
  });
  const [main, ...others] = parts;
  const tables = others.map(({ name, sql }) => `${name} AS (\n  ${sql}\n)`);
  return `${tables.length > 0 ? `WITH ${tables.join(', ')}\n` : ''}${main?.sql ?? 'SELECT'}`;
}

/**
 * Returns `count` rows of parameters, or arrays of any length if `count` is 0. The first parameter is `$<before + 1>`.
 */
function rowSource(fields: readonly Field[], count: number, before: number): string {
  const alias = `v(${fields.map(([name]) => name).join(', ')})`;
  if (count === 0) {
    const arrays = fields.map(([name, type, form], index) => {
      const parameter = `$${before + index + 1}`;
      return `unnest(${form === 'joined' ? `string_to_array(${parameter}, E'\\x1e')` : `${parameter}::${type}[]`}) AS ${name}`;
    });
    return `(SELECT ${arrays.join(', ')}) AS v`;
  }
  const rows = Array.from({ length: count }, (_, row) => {
    const values = fields.map(([, type], index) => `$${before + row * fields.length + index + 1}::${type}`);
    return `(${values.join(', ')})`;
  });
  return `(VALUES ${rows.join(', ')}) AS ${alias}`;
}

/** Returns the parameters for `rowSource`. */
function parametersOf({ part, columns }: Write, few: boolean): unknown[] {
  if (few) {
    const rows = columns[0] ?? [];
    return rows.flatMap((_, row) => columns.map(column => column[row]));
  }
  return part.fields.map((field, index) => listOf(columns[index] ?? [], field));
}

function listOf(values: readonly unknown[], field: Field): unknown {
  switch (field[2]) {
    case 'binary':
      return binaryArray(field[1], values);
    case 'joined':
      return values.join(SEPARATOR);
    case 'array':
      return values;
  }
}

/**
 * The settings of the session that commits. Without them the planner could choose to scan all runs because there were
 * few when the statement was prepared. Its one generic plan suits every batch, so nothing is planned twice. Rows are
 * found by their keys in the order of the batch.
 */
export const PLANNING = `SET jit = off; SET plan_cache_mode = force_generic_plan;
  SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off`;

type AskedTask = TaskChange & { asked: NonNullable<TaskChange['asked']> };

/**
 * Returns the one statement that commits a batch in one round trip: events, payloads, the runs projection, the inbox
 * and usage, which is what is charged (docs/adr/0008-what-a-commit-writes.md). It contains only the parts that the
 * batch needs: setting up all of them costs about 0.3 ms, as much as a whole commit of a lone step.
 */
export function commitStatement(batch: readonly LogEntry[]): { name: string; text: string; values: unknown[] } {
  const { asked, ended } = tasksOf(batch);
  const all: Write[] = [
    { part: events, columns: eventColumns(batch) },
    { part: payloads, columns: payloadColumns(batch) },
    { part: newRuns, columns: newRunRows(batch.filter(isCreated)) },
    { part: childRuns, columns: childRunColumns(batch) },
    { part: descendants, columns: descendantColumns(batch) },
    { part: movedRuns, columns: movedRunRows(batch.filter(isMoved)) },
    { part: askedTasks, columns: askedTaskColumns(asked) },
    { part: endedTasks, columns: endedTaskColumns(ended) },
    { part: usage, columns: usageColumns(batch) },
    { part: searchValues, columns: searchColumns(batch) },
  ];
  const writes = all.filter(write => rowsOf(write) > 0);
  const few = texts.size < MAX_STATEMENTS || texts.has(nameOf(writes, isFew)) ? isFew : () => false;
  const name = nameOf(writes, few);
  const text = texts.get(name) ?? textOf(writes, few);
  texts.set(name, text);
  return { name, text, values: writes.flatMap(write => parametersOf(write, few(write))) };
}

function tasksOf(batch: readonly LogEntry[]): {
  asked: { runId: string; task: AskedTask }[];
  ended: { runId: string; task: TaskChange }[];
} {
  const asked: { runId: string; task: AskedTask }[] = [];
  const ended: { runId: string; task: TaskChange }[] = [];
  for (const { runId, tasks } of batch) {
    for (const task of tasks) {
      if (isAsked(task)) asked.push({ runId, task });
      else ended.push({ runId, task });
    }
  }
  return { asked, ended };
}

const isAsked = (task: TaskChange): task is AskedTask => task.asked !== null;

type Created = LogEntry & { created: NewRun; projection: RunProjection };
type Moved = LogEntry & { projection: RunProjection };

const isCreated = (entry: LogEntry): entry is Created => entry.created !== undefined && entry.projection !== null;
const isMoved = (entry: LogEntry): entry is Moved => entry.created === undefined && entry.projection !== null;

/** The rows of a part, column by column. */
export type Columns = readonly (readonly unknown[])[];

function eventColumns(batch: readonly LogEntry[]): Columns {
  const runs: string[] = [];
  const seqs: number[] = [];
  const types: string[] = [];
  const steps: (string | null)[] = [];
  const attempts: (number | null)[] = [];
  const data: string[] = [];
  const times: number[] = [];
  for (const { runId, rows } of batch) {
    for (const row of rows) {
      runs.push(runId);
      seqs.push(row.seq);
      types.push(row.type);
      steps.push(row.step);
      attempts.push(row.attempt);
      data.push(row.json);
      times.push(row.at);
    }
  }
  return [runs, seqs, types, steps, attempts, data, times];
}

function payloadColumns(batch: readonly LogEntry[]): Columns {
  const rows = batch.flatMap(entry => entry.payloads.map(payload => ({ runId: entry.runId, payload })));
  return [
    rows.map(({ payload }) => payload.id),
    rows.map(({ runId }) => runId),
    rows.map(({ payload }) => payload.json),
    rows.map(({ payload }) => payload.at),
  ];
}

function childRunColumns(batch: readonly LogEntry[]): Columns {
  const runs = batch.flatMap(({ runId, created }) =>
    created?.parent === undefined ? [] : [{ runId, parent: created.parent }],
  );
  return [
    runs.map(({ runId }) => runId),
    runs.map(({ parent }) => parent.run_id),
    runs.map(({ parent }) => parent.workflow_id),
    runs.map(({ parent }) => parent.step_id),
    runs.map(({ parent }) => parent.detached === true),
  ];
}

function descendantColumns(batch: readonly LogEntry[]): Columns {
  const beneath = batch.flatMap(({ runId, created }) =>
    created?.root === undefined ? [] : [{ runId, root: created.root }],
  );
  return [beneath.map(({ runId }) => runId), beneath.map(({ root }) => root)];
}

function searchColumns(batch: readonly LogEntry[]): Columns {
  const rows = batch.flatMap(({ runId, owner, search }) =>
    search === undefined ? [] : search.values.map(found => ({ runId, owner, found, startedAt: search.startedAt })),
  );
  return [
    rows.map(({ runId }) => runId),
    rows.map(({ found }) => found.name),
    rows.map(({ found }) => found.value),
    rows.map(({ owner }) => owner.projectId),
    rows.map(({ startedAt }) => startedAt),
  ];
}

function askedTaskColumns(asked: readonly { runId: string; task: AskedTask }[]): Columns {
  const column = (pick: (task: AskedTask) => unknown): unknown[] => asked.map(({ task }) => pick(task));
  return [
    asked.map(({ runId }) => runId),
    column(task => task.step),
    column(task => task.asked.tenantId),
    column(task => task.asked.projectId),
    column(task => task.asked.workflowId),
    column(task => task.asked.name),
    column(task => task.asked.instructions),
    column(task => task.asked.toDecide ?? null),
    column(task => task.asked.form),
    column(task => JSON.stringify(task.asked.assignees)),
    column(task => task.asked.createdAt),
    column(task => task.asked.dueAt),
    column(task => task.state),
    column(task => task.approved),
    column(task => task.completedBy),
    column(task => task.completedAt),
  ];
}

function endedTaskColumns(ended: readonly { runId: string; task: TaskChange }[]): Columns {
  return [
    ended.map(({ runId }) => runId),
    ended.map(({ task }) => task.step),
    ended.map(({ task }) => task.state),
    ended.map(({ task }) => task.approved),
    ended.map(({ task }) => task.completedBy),
    ended.map(({ task }) => task.completedAt),
  ];
}
