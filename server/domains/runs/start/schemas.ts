import { z } from 'zod';
import { AnyObject, Id, ObjectOfObjects, PlainText, Timestamp } from '../../../operation/wire.ts';
import { PhaseSchema, RunStatusSchema } from '../schemas.ts';

export const CommandInput = z.strictObject({
  id: Id,
  command: z.enum(['start', 'pause', 'resume', 'stop']),
  params: AnyObject.default({}).meta({
    description: 'The input of a start, which must fit the `input_schema`; otherwise `run_id`',
  }),
});
/** `orchestration_phase` is present for pause, resume and stop. */
export const CommandOutput = z.strictObject({
  run_id: Id,
  status: RunStatusSchema,
  workflow_id: Id,
  started_at: Timestamp,
  orchestration_phase: PhaseSchema.optional(),
});
/** The params of pause, resume and stop. */
export const PauseParams = z.strictObject({ run_id: Id });
export const StopParams = z.strictObject({ run_id: Id, mode: z.enum(['immediate', 'graceful']).default('immediate') });
/** Text that fits a column and a log line. */
const Label = PlainText(200).min(1);
/** The reserved keys of a start's params (docs/specification/runs.md#start); all other keys are input. */
export const StartParams = z.looseObject({
  run_id: Id.optional().meta({
    description: 'The id of the new run: a random UUID (version 4 or 7). For derived names use Idempotency-Key',
  }),
  session_id: Label.optional(),
  mode: z.enum(['normal', 'episode']).default('normal'),
  trigger_type: Label.optional(),
  trigger_payload: AnyObject.optional(),
  webhook_payload: AnyObject.optional(),
  trigger_steps: ObjectOfObjects.default({}),
  seed_results: AnyObject.default({}),
  use_run_setup_defaults: z.boolean().optional(),
});
