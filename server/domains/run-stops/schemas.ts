import { z } from 'zod';
import { Id, Instant, nextCursor, PlainText, page, Timestamp } from '../../operation/wire.ts';
import { WORKFLOW_KINDS } from '../../operation/workflow-kinds.ts';
import { RUN_STATUSES } from '../../orchestrator/core/events.ts';
import { SearchableFilter } from '../runs/reading/schemas.ts';
import { BULK_ACTIONS } from './actions.ts';

const Label = PlainText(200).min(1);
const ModeSchema = z.enum(['immediate', 'graceful']);

/** The fields of the filter of a bulk stop. A run has to match all of them. */
const filterFields = {
  project_id: Id.optional().meta({ description: 'Default: every project; of a token, always its own' }),
  workflow_ids: z.array(Id).min(1).max(100).optional(),
  kind: z.enum(WORKFLOW_KINDS).optional().meta({ description: 'Of workflows of this kind; default: of every kind' }),
  status: z.enum(['running', 'paused']).optional().meta({ description: 'Default: both' }),
  from: Instant.optional().meta({ description: 'Runs that started at this time or later' }),
  to: Instant.optional().meta({ description: 'Runs that started before this time' }),
  test: z.boolean().optional().meta({ description: 'Test runs alone, or none; default: both' }),
  session_id: Label.optional(),
  trigger_type: Label.optional(),
  q: PlainText(200).min(1).optional().meta({ description: 'As of GET /v1/runs' }),
  field: SearchableFilter.optional(),
  root_run_id: Id.optional().meta({
    description: 'This run and all that it called, directly or not, ended or not; with no other field but `project_id`',
  }),
};
const ROOT_FIELDS: ReadonlySet<string> = new Set(['root_run_id', 'project_id']);
export const StopFilter = z
  .strictObject(filterFields)
  .refine(filter => filter.root_run_id === undefined || Object.keys(filter).every(name => ROOT_FIELDS.has(name)), {
    path: ['root_run_id'],
    message: 'cannot be combined with another field than project_id',
  })
  .meta({
    description: 'Which active runs; `{}` means all of them',
    oneOf: [
      { title: 'By what they are', not: { required: ['root_run_id'] } },
      { title: 'By what called them', required: ['root_run_id'], propertyNames: { enum: [...ROOT_FIELDS] } },
    ],
  });
export type StopFilter = z.output<typeof StopFilter>;

export const StopRunsInput = z.strictObject({
  filter: StopFilter,
  mode: ModeSchema.default('immediate').meta({ description: 'As of the command `stop`' }),
});
export const PreviewStopInput = z.strictObject({ filter: StopFilter });
export const PreviewStopOutput = z.strictObject({
  matching: z.number().int().meta({ description: 'Active runs that match now, without those that they called' }),
  capped: z.boolean().meta({ description: 'Whether there are more than `matching` says' }),
});

export const StopJob = z.strictObject({
  stop_id: Id,
  state: z.enum(['working', 'finished']),
  mode: ModeSchema,
  filter: z.strictObject(filterFields),
  requested_by: z.string().meta({ description: 'An email, or `operator`' }),
  requested_at: Timestamp,
  finished_at: Timestamp.nullable(),
  matched: z.number().int().meta({ description: 'Active runs that it has found, with those that they called' }),
  stopped: z.number().int(),
  already_ended: z.number().int().meta({ description: 'Runs that ended before it was their turn' }),
  failed: z.number().int().meta({ description: 'Runs that could not be stopped in five attempts' }),
  remaining: z.number().int().meta({ description: 'Runs that it has found and not stopped yet' }),
});
export const StopRef = z.strictObject({ stop_id: Id });
export const ListStopsInput = z.strictObject(page);
export const ListStopsOutput = z.strictObject({ stops: z.array(StopJob), ...nextCursor });

/** The maximum number of runs that a bulk action starts. */
export const MAX_STARTS = 10_000;
const bulkFields = {
  run_ids: z.array(Id).min(1).max(1_000).optional(),
  workflow_ids: filterFields.workflow_ids,
  status: z.enum(RUN_STATUSES).optional(),
  from: filterFields.from,
  to: filterFields.to,
  test: z
    .union([z.boolean(), z.literal('reruns')])
    .optional()
    .meta({ description: 'As of GET /v1/runs' }),
  q: filterFields.q,
  field: filterFields.field,
};
const BulkFilterSchema = z.strictObject(bulkFields).meta({ description: '`{}`: all that the action is for' });
export type BulkFilter = z.output<typeof BulkFilterSchema>;
const ActionSchema = z.enum(BULK_ACTIONS).meta({
  description: '`stop` active runs, `rerun` those that have ended, `continue` failed ones from the failed step',
});
export const StartBulkInput = z
  .strictObject({
    action: ActionSchema,
    filter: BulkFilterSchema,
    mode: ModeSchema.optional().meta({ description: 'Of `stop`' }),
    version: z.literal('latest').optional().meta({ description: "Of `continue`; default: each run's own" }),
  })
  .refine(({ action, mode }) => mode === undefined || action === 'stop', {
    path: ['mode'],
    message: 'is for `stop` alone',
  })
  .refine(({ action, version }) => version === undefined || action === 'continue', {
    path: ['version'],
    message: 'is for `continue` alone',
  })
  .meta({
    oneOf: [
      { title: 'Stop', properties: { action: { const: 'stop' } }, not: { required: ['version'] } },
      { title: 'Run again', properties: { action: { const: 'rerun' } }, propertyNames: { enum: ['action', 'filter'] } },
      { title: 'Continue', properties: { action: { const: 'continue' } }, not: { required: ['mode'] } },
    ],
  });
export const PreviewBulkInput = z.strictObject({ action: ActionSchema, filter: BulkFilterSchema });
export const PreviewBulkOutput = z.strictObject({
  matching: z.number().int().meta({ description: 'Runs that match now and that the action is for' }),
  capped: z.boolean().meta({ description: 'Whether there are more than `matching` says' }),
});
export const BulkJob = z.strictObject({
  job_id: Id,
  action: ActionSchema,
  state: z.enum(['working', 'finished']),
  filter: z.strictObject({ ...bulkFields, project_id: Id }),
  requested_by: z.string().meta({ description: 'An email' }),
  requested_at: Timestamp,
  finished_at: Timestamp.nullable(),
  matched: z.number().int().meta({ description: 'Runs that it has found' }),
  done: z.number().int().meta({ description: 'Of these: stopped, or repeated by a new run' }),
  passed: z.number().int().meta({ description: 'Runs that ended or were deleted before it was their turn' }),
  failed: z.number().int(),
  remaining: z.number().int(),
  first_error: z.string().nullable().meta({ description: 'Why the first run failed' }),
});
export const BulkRef = z.strictObject({ job_id: Id });
export const ListBulkOutput = z.strictObject({ jobs: z.array(BulkJob), ...nextCursor });
