import { z } from 'zod';
import { Id, Timestamp } from '../../operation/wire.ts';
import { PHASES, RUN_STATUSES } from '../../orchestrator/core/events.ts';
import { JsonValueSchema } from '../../platform/zod-json.ts';

export const RunStatusSchema = z.enum(RUN_STATUSES);
export const PhaseSchema = z.enum(PHASES);
export const StepStatusSchema = z.enum([
  'pending',
  'ready',
  'running',
  'retrying',
  'waiting',
  'sleeping',
  'completed',
  'failed',
  'cancelled',
  'skipped',
]);
export const RunErrorSchema = z.strictObject({ code: z.string(), message: z.string(), step_id: z.string() });
export type RunError = z.output<typeof RunErrorSchema>;
export const RunSchema = z.strictObject({
  run_id: Id,
  workflow_id: Id,
  project_id: Id,
  workflow_name: z.string(),
  version: z.number().int().meta({ description: 'Negative for test runs, whose snapshot no list of versions shows' }),
  test: z.boolean().meta({ description: 'Whether the run was started from the draft as a test' }),
  status: RunStatusSchema,
  orchestration_phase: PhaseSchema,
  session_id: z.string(),
  run_complete: z.boolean(),
  trigger_type: z.string(),
  started_by: z.string(),
  started_at: Timestamp,
  ended_at: Timestamp.nullable(),
  error: RunErrorSchema.nullable(),
  steps_total: z.number().int(),
  steps_done: z.number().int(),
  steps_skipped: z.number().int().meta({ description: 'Steps of `steps_done` that did not run: skipped or reused' }),
  pending_tasks: z.number().int().meta({ description: 'Human tasks that wait for an answer' }),
  rerun_of: Id.nullable().meta({ description: 'The run that this one repeats or continues; null if it is no rerun' }),
  credits_microcredits: z.number().int(),
});
/** The ids of another run, for a link to it. */
export const RunLink = z.strictObject({ run_id: Id, workflow_id: Id });
export const CallingStep = RunLink.extend({ step_id: z.string() })
  .nullable()
  .meta({ description: 'The run and the step that called this one; null for a run that no step called' });
export const ChildRun = RunLink.nullable().meta({
  description: 'The run that the step called last; null if it called none',
});
export const StepErrorSchema = z.strictObject({
  code: z.string(),
  message: z.string(),
  details: JsonValueSchema.optional().meta({
    description: 'Further facts about the error, such as the answer of a tool or a server',
  }),
});
export const runOutputFields = {
  output: JsonValueSchema.meta({
    description: 'The output of a run that has completed, at most 4 MiB; otherwise null',
  }),
  output_error: z.strictObject({ code: z.string(), message: z.string() }).nullable().meta({
    description:
      'Why a run that has completed has no output: `template_unresolved`, `template_key_invalid` or `output_too_large`',
  }),
};
export const RunRef = z.strictObject({ id: Id, runID: Id });
