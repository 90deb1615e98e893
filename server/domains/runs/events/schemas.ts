import { z } from 'zod';
import { AnyObject, Id, MAX_INTEGER, nextCursor, PlainText, Timestamp } from '../../../operation/wire.ts';

export const RunEventSchema = z.strictObject({
  seq: z.number().int(),
  event_type: z.string(),
  run_id: Id,
  workflow_id: Id,
  step_id: z.string().optional(),
  attempt: z.number().int().optional(),
  data: AnyObject,
  created_at: Timestamp,
});

export const ListEventsInput = z
  .strictObject({
    id: Id,
    runID: Id,
    cursor: z
      .string()
      .regex(/^\d{1,10}$/, 'is not a cursor of this list')
      .transform(Number)
      .refine(seq => seq <= MAX_INTEGER, 'is not a cursor of this list')
      .optional(),
    after: z.coerce
      .number()
      .int()
      .min(0)
      .max(MAX_INTEGER)
      .optional()
      .meta({ description: 'Only events with a larger `seq`; instead of a cursor' }),
    limit: z.coerce.number().int().min(1).max(1000).default(200).meta({ description: 'Default 200, at most 1,000' }),
    step_id: z.string().max(512).optional(),
    q: PlainText(200).optional().meta({
      description: 'Only events with this text in their type, step or data, in any case',
    }),
    failures: z
      .enum(['true'])
      .optional()
      .meta({ description: 'Only failed attempts: `step_failed`, `step_retrying` and `run_rejected`' }),
  })
  .refine(({ cursor, after }) => cursor === undefined || after === undefined, {
    path: ['after'],
    message: 'give either a cursor or after',
  });
export const StreamEventsInput = z.strictObject({
  id: Id,
  runID: Id,
  after: z.coerce
    .number()
    .int()
    .min(0)
    .max(MAX_INTEGER)
    .optional()
    .meta({ description: 'Only events with a larger `seq`; `Last-Event-ID` takes precedence' }),
});
export const ListEventsOutput = z.strictObject({ events: z.array(RunEventSchema), ...nextCursor });
