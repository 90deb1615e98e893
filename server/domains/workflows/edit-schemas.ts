import { z } from 'zod';
import { AnyObject, Id } from '../../operation/wire.ts';
import { JsonValueSchema } from '../../platform/zod-json.ts';
import { GRAPH_FIELDS } from './edits/draft.ts';
import type { Edit } from './edits/index.ts';
import {
  Coordinates,
  Description,
  GraphSchema,
  MAX_NOTES,
  NoteSchema,
  RunSetupSchema,
  StepSchema,
  VersionNumber,
  WorkflowName,
  WorkflowSchema,
} from './schemas.ts';

/** The maximum number of edits in one request: each edit reads the whole graph. */
export const MAX_EDITS = 100;

const StepId = z.string().max(200).meta({ description: 'The id of a step of the draft' });
const StepIds = z.array(StepId).max(2_000);
const FieldNames = z.array(z.string().max(200)).max(200);
const GraphFieldsSchema = GraphSchema.pick({
  input_schema: true,
  output: true,
  on_failure: true,
  searchable: true,
  tool: true,
});
const GraphFieldNames = z.array(z.enum(GRAPH_FIELDS)).max(GRAPH_FIELDS.length);
const Branch = z.enum(['then', 'else']);

const StepRestoreSchema = z.discriminatedUnion('change', [
  z.strictObject({ change: z.literal('add'), step: StepSchema }),
  z.strictObject({ change: z.literal('remove'), step: StepId }),
  z.strictObject({ change: z.literal('update'), step: StepId, set: AnyObject, unset: FieldNames, keys: FieldNames }),
]);

const NoteId = z.string().max(64).meta({ description: 'The id of a note of the draft' });
const NoteRestoreSchema = z.discriminatedUnion('change', [
  z.strictObject({ change: z.literal('remove'), note: NoteId }),
  z.strictObject({ change: z.literal('put'), note: NoteSchema, at: z.number().int().min(0).max(MAX_NOTES) }),
]);

/** An edit of a draft on the wire (server/domains/workflows/edits). */
export const EditSchema = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('add_step'),
    step: StepSchema,
    at: z
      .number()
      .int()
      .min(0)
      .max(2_000)
      .optional()
      .meta({ description: 'Its place among the steps; default: the last' }),
  }),
  z.strictObject({
    type: z.literal('update_step'),
    step: StepId,
    set: AnyObject.optional().meta({ description: 'Fields with their new values' }),
    unset: FieldNames.optional().meta({ description: 'Fields to remove' }),
  }),
  z.strictObject({ type: z.literal('rename_step'), step: StepId, to: StepId }),
  z.strictObject({
    type: z.literal('remove_step'),
    step: StepId,
    heal: z.boolean().optional().meta({ description: 'Connect what depended on the step to what it depended on' }),
  }),
  z.strictObject({
    type: z.literal('connect'),
    from: StepId,
    to: StepId,
    branch: Branch.optional().meta({
      description: 'The branch of the condition `from` that `to` is added to; it may be in both',
    }),
  }),
  z.strictObject({ type: z.literal('disconnect'), from: StepId, to: StepId }),
  z.strictObject({ type: z.literal('insert_between'), from: StepId, to: StepId, step: StepSchema }),
  z.strictObject({
    type: z.literal('move'),
    step: StepId,
    position: Coordinates.nullable().meta({ description: 'null: where the automatic layout puts it' }),
  }),
  z.strictObject({ type: z.literal('set_note'), note: NoteSchema }),
  z.strictObject({ type: z.literal('remove_note'), note: NoteId }),
  z.strictObject({
    type: z.literal('update_graph'),
    set: GraphFieldsSchema.optional().meta({ description: 'Fields of the graph with their new values' }),
    unset: GraphFieldNames.optional().meta({ description: 'Fields to remove' }),
  }),
  z.strictObject({ type: z.literal('set_run_setup'), run_setup: RunSetupSchema }),
  z.strictObject({
    type: z.literal('set_details'),
    name: WorkflowName.optional(),
    description: Description.optional(),
  }),
  z.strictObject({
    type: z.literal('restore'),
    steps: z.array(StepRestoreSchema).max(2_000),
    order: StepIds.optional(),
    notes: z.array(NoteRestoreSchema).max(MAX_NOTES).optional(),
    without_notes: z.boolean().optional(),
    graph: z.strictObject({ set: GraphFieldsSchema, unset: GraphFieldNames, keys: FieldNames }).optional(),
    run_setup: RunSetupSchema.optional(),
    name: WorkflowName.optional(),
    description: Description.optional(),
  }),
]);
/** `never` if the types of the schema and of the edits differ, so that edit.test.ts does not compile. */
export type SchemaOfEdits = z.output<typeof EditSchema>['type'] extends Edit['type']
  ? Edit['type'] extends z.output<typeof EditSchema>['type']
    ? true
    : never
  : never;

export const EditWorkflowInput = z.strictObject({ id: Id, edits: z.array(EditSchema).min(1).max(MAX_EDITS) });
export const EditWorkflowOutput = z.strictObject({
  workflow: WorkflowSchema,
  changed: z.boolean().meta({ description: 'false: the edits, or what they undo, are in the draft already' }),
  undo: z.array(EditSchema).meta({ description: 'The edits that undo this request, in the order to send them' }),
  unrewritten: z
    .array(z.strictObject({ step: z.string(), field: z.string(), line: z.number().int(), text: z.string() }))
    .meta({ description: 'Lines of Lua that may still read a renamed step by its old id' }),
});

/** One side of a comparison: a published version, or the draft. */
const VersionOrDraft = z.union([z.literal('draft'), VersionNumber], {
  error: 'expected the number of a version, or draft',
});
export const DiffVersionsInput = z.strictObject({ id: Id, a: VersionOrDraft, b: VersionOrDraft });
export const FieldChange = z.strictObject({
  field: z.string(),
  before: JsonValueSchema.optional().meta({ description: 'Absent where the field was' }),
  after: JsonValueSchema.optional().meta({ description: 'Absent where the field is' }),
});
const StepChange = z.discriminatedUnion('change', [
  z.strictObject({ change: z.literal('added'), step: z.string(), after: StepSchema }),
  z.strictObject({ change: z.literal('removed'), step: z.string(), before: StepSchema }),
  z.strictObject({ change: z.literal('changed'), step: z.string(), fields: z.array(FieldChange) }),
]);
export const DiffVersionsOutput = z.strictObject({
  steps: z.array(StepChange),
  reordered: z.boolean().meta({ description: 'Whether the steps that both have stand in another order' }),
  notes: z.array(FieldChange).meta({ description: 'Notes that differ, each with its id as the field' }),
  graph: z.array(FieldChange).meta({ description: 'Fields of the graph itself that differ, such as `output`' }),
  run_setup: z.array(FieldChange),
});
