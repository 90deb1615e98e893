import { z } from 'zod';
import { AnyObject, Id, nextCursor, page, Timestamp } from '../../api/wire.ts';

/** A step on the wire. Which fields a type has is checked by the step registry; here only that it is a step at all. */
export const StepSchema = z.looseObject({ id: z.string(), type: z.string() });
export const GraphSchema = z.strictObject({ steps: z.array(StepSchema) });
export const RunSetupSchema = z.strictObject({
  trigger_payload: AnyObject.optional(),
  trigger_steps: z.record(z.string(), AnyObject).optional(),
  use_as_default: z.boolean().optional(),
});
export const WorkflowStatus = z.enum(['draft', 'published', 'archived']);

export const WorkflowSchema = z.strictObject({
  id: Id,
  name: z.string(),
  description: z.string(),
  tenant_id: z.string(),
  project_id: Id,
  status: WorkflowStatus,
  graph: GraphSchema,
  run_setup: RunSetupSchema,
  latest_version: z.number().int().nullable(),
  graph_checksum: z.string(),
  created_at: Timestamp,
  updated_at: Timestamp,
});
/** In lists a workflow also says how its last runs went: newest first, at most 20. */
export const RecentRun = z.strictObject({
  run_id: Id,
  status: z.string(),
  started_at: Timestamp,
  ended_at: Timestamp.nullable(),
});
export const WorkflowListItem = WorkflowSchema.omit({ graph: true, run_setup: true }).extend({
  steps_total: z.number().int(),
  recent_runs: z.array(RecentRun),
});
export const ListWorkflowsInput = z.strictObject({
  ...page,
  status: WorkflowStatus.optional().meta({ description: 'Default: all but archived' }),
  q: z.string().max(200).optional(),
});
export const ListWorkflowsOutput = z.strictObject({
  workflows: z.array(WorkflowListItem.extend({ graph: GraphSchema, run_setup: RunSetupSchema })),
  ...nextCursor,
});

export const VersionSchema = z.strictObject({
  version: z.number().int(),
  workflow_id: Id,
  published_at: Timestamp,
  published_by: z.string(),
  changelog: z.string(),
  graph_checksum: z.string(),
  graph_snapshot: GraphSchema,
  run_setup: RunSetupSchema,
});

export const GraphProblem = z.strictObject({
  step_id: z.string().nullable(),
  path: z.string(),
  code: z.string(),
  message: z.string(),
});
export const ValidationReport = z.strictObject({
  valid: z.boolean(),
  errors: z.array(GraphProblem),
  warnings: z.array(GraphProblem),
});
