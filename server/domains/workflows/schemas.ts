import { z } from 'zod';
import {
  AnyObject,
  asSent,
  Id,
  kindFilter,
  listAsSent,
  MAX_INTEGER,
  NameText,
  nextCursor,
  ObjectOfObjects,
  PlainText,
  page,
  Timestamp,
} from '../../operation/wire.ts';
import { WORKFLOW_KINDS } from '../../operation/workflow-kinds.ts';
import { PHASES } from '../../orchestrator/core/events.ts';
import { JsonValueSchema } from '../../platform/zod-json.ts';
import { FolderPath, Tags } from './folders/names.ts';

export const WorkflowName = NameText(200);
export const Description = PlainText(20_000);
export const VersionNumber = z.coerce.number().int().min(1).max(MAX_INTEGER);

/**
 * A step on the wire. This schema only checks that the value is a step; the step registry checks the fields of its
 * type.
 */
const AnyStep = z.looseObject({ id: z.string(), type: z.string() });
export const StepSchema = asSent(AnyStep);
/** A coordinate on the canvas, in pixels. */
const Coordinate = z.number().min(-1_000_000).max(1_000_000);
export const Coordinates = z.strictObject({ x: Coordinate, y: Coordinate });
const Side = z.number().min(1).max(10_000).optional();
/** A text on the canvas, for people. Runs ignore it. */
export const NoteSchema = z.strictObject({
  id: z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, 'must hold 1 to 64 letters, digits, _ and -'),
  text: PlainText(10_000).meta({ description: 'Markdown' }),
  position: Coordinates,
  width: Side,
  height: Side,
  color: z.enum(['yellow', 'blue', 'green', 'red', 'gray']).optional(),
});
/** The maximum number of notes of a graph. */
export const MAX_NOTES = 200;
/** Does not check whether models accept the name: a draft may be incomplete, so that is left to validation. */
export const WorkflowToolSchema = z.strictObject({
  name: z.string().max(200).optional().meta({
    description: 'A letter or _, then letters, digits, _ and -, up to 64; default: made of the name of the workflow',
  }),
  description: PlainText(2_000).optional().meta({ description: 'Default: the description of the workflow' }),
  read_only: z.boolean().optional().meta({ description: 'Whether it changes nothing, so that agents need not ask' }),
});
export const GraphSchema = z.strictObject({
  steps: listAsSent(AnyStep),
  notes: z
    .array(NoteSchema)
    .max(MAX_NOTES)
    .optional()
    .meta({ description: 'Texts on the canvas, for the editor only' }),
  input_schema: AnyObject.optional().meta({
    description: 'JSON Schema (2020-12) of the input: a start whose input does not fit it is refused',
  }),
  output: JsonValueSchema.optional().meta({
    description: 'The output of a run, with templates; default: the results of its last steps',
  }),
  on_failure: z
    .strictObject({ workflow_id: z.string().max(200) })
    .optional()
    .meta({ description: 'A workflow of the same project, started with the summary of each run that failed' }),
  searchable: AnyObject.optional().meta({
    description:
      'Values that runs are found by: a name and one template of the input or of a result for each, at most 10',
  }),
  tool: WorkflowToolSchema.optional().meta({
    description: 'Offers the published workflow as a tool to agents and to MCP clients; an empty object is enough',
  }),
});
/** The maximum number of saved inputs of a workflow. */
const MAX_SAVED_INPUTS = 50;
const SavedInput = z.strictObject({ name: NameText(100), input: AnyObject });
export const RunSetupSchema = z.strictObject({
  trigger_payload: AnyObject.optional(),
  trigger_steps: ObjectOfObjects.optional(),
  use_as_default: z.boolean().optional(),
  saved_inputs: z
    .array(SavedInput)
    .max(MAX_SAVED_INPUTS)
    .refine(saved => new Set(saved.map(({ name }) => name)).size === saved.length, 'must have different names')
    .optional()
    .meta({ description: 'Inputs that people choose by name when they start a run; no start uses them by itself' }),
  pinned_results: AnyObject.optional().meta({
    description: 'Results by step id that tests of the draft take instead of executing the step; not in versions',
  }),
});
/** The run setup outside of the draft, without pinned results. */
const SharedRunSetupSchema = RunSetupSchema.omit({ pinned_results: true });
export const WorkflowStatus = z.enum(['draft', 'published', 'archived']);

export const WorkflowSchema = z.strictObject({
  id: Id,
  name: z.string(),
  description: z.string(),
  tenant_id: z.string(),
  project_id: Id,
  status: WorkflowStatus,
  kind: z.enum(WORKFLOW_KINDS).meta({ description: 'Only a `workflow` is changed as a workflow' }),
  folder: z.string().meta({ description: 'A path such as `Finance/Invoices`; empty: in no folder' }),
  tags: z.array(z.string()),
  graph: GraphSchema,
  run_setup: RunSetupSchema,
  latest_version: z.number().int().nullable(),
  graph_checksum: z.string(),
  /** The ETag, for clients that do not see headers. Sent as If-Match, it limits a change to the state that was read. */
  etag: z.string(),
  created_at: Timestamp,
  updated_at: Timestamp,
});
/** The outcome of a run. In lists, a workflow has the outcomes of its last runs: newest first, at most 20. */
export const RecentRun = z.strictObject({
  run_id: Id,
  status: z.string(),
  orchestration_phase: z.enum(PHASES),
  pending_tasks: z.number().int().meta({ description: 'Human tasks that wait for their answer' }),
  started_at: Timestamp,
  ended_at: Timestamp.nullable(),
});
const WorkflowListItem = WorkflowSchema.omit({ graph: true, run_setup: true }).extend({
  steps_total: z.number().int(),
  recent_runs: z.array(RecentRun),
  unpublished_changes: z.boolean().meta({ description: "Whether the draft's graph differs from the latest version's" }),
});
export const ListWorkflowsInput = z.strictObject({
  ...page,
  kind: kindFilter,
  status: WorkflowStatus.optional().meta({ description: 'Default: all but archived' }),
  q: PlainText(200).optional().meta({ description: 'Part of the name, description, folder or tags, or the id' }),
  folder: FolderPath.optional().meta({ description: 'Workflows of this folder and of those inside it' }),
  tags: Tags.optional().meta({ description: 'Workflows that have all of these tags' }),
  graphs: z
    .boolean()
    .default(true)
    .meta({ description: 'Whether each workflow comes with its `graph` and `run_setup`, which may be large' }),
});
export const ListWorkflowsOutput = z.strictObject({
  workflows: z.array(WorkflowListItem.extend({ graph: GraphSchema.optional(), run_setup: RunSetupSchema.optional() })),
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
  run_setup: SharedRunSetupSchema,
});

export const GraphProblem = z.strictObject({
  step_id: z.string().nullable(),
  path: z.string(),
  code: z.string(),
  message: z.string(),
  hint: z.string().optional().meta({ description: 'A way out of the problem, if one is known' }),
});
export const ValidationReport = z.strictObject({
  valid: z.boolean(),
  errors: z.array(GraphProblem),
  warnings: z.array(GraphProblem),
});

export const WorkflowRef = z.strictObject({ id: Id });
export const ArchiveWorkflowInput = WorkflowRef.extend({
  runs: z.enum(['continue', 'stop']).default('continue').meta({
    description: '`stop`: its active runs are stopped in turns, as by `POST /v1/runs/stop`; it takes `workflow:run`',
  }),
});
export const CreateWorkflowInput = z.strictObject({
  name: WorkflowName,
  description: Description.optional(),
  graph: GraphSchema.optional(),
  run_setup: RunSetupSchema.optional(),
  folder: FolderPath.optional(),
  tags: Tags.optional(),
});
export const PatchWorkflowInput = z.strictObject({
  id: Id,
  name: WorkflowName.optional(),
  description: Description.optional(),
  graph: GraphSchema.optional(),
  run_setup: RunSetupSchema.optional(),
});
export const ValidateInput = z.strictObject({
  id: Id,
  graph: GraphSchema.optional().meta({ description: 'Checks this graph; default: the saved draft' }),
});

export const PublishInput = z.strictObject({ id: Id, changelog: PlainText(2_000).optional() });
export const ListVersionsInput = z.strictObject({ id: Id, ...page });
export const ListVersionsOutput = z.strictObject({ versions: z.array(VersionSchema), ...nextCursor });
/** Reads also accept the negative numbers of the snapshots that test runs use. */
export const ReadVersionInput = z.strictObject({
  id: Id,
  version: z.coerce
    .number()
    .int()
    .min(-MAX_INTEGER)
    .max(MAX_INTEGER)
    .refine(version => version !== 0, 'must not be 0')
    .meta({ description: 'Negative: the snapshot of a test run' }),
});
export const VersionRef = z.strictObject({ id: Id, version: VersionNumber });

/** A workflow document outside the service: self-contained, without ids and without secrets. */
export const WorkflowDocument = z.strictObject({
  baton: z.literal(1),
  kind: z.literal('workflow'),
  name: WorkflowName,
  description: Description.default(''),
  graph: GraphSchema,
  run_setup: SharedRunSetupSchema.default({}),
  folder: z.string().optional(),
  tags: z.array(z.string()).optional(),
});
/** A document that people write, such as the body of POST /v1/workflows. It has no fields for its kind and version. */
export const ImportedDocument = WorkflowDocument.extend({
  baton: WorkflowDocument.shape.baton.default(1),
  kind: WorkflowDocument.shape.kind.default('workflow'),
  folder: FolderPath.optional(),
  tags: Tags.optional(),
});
export const ExportInput = z.strictObject({ id: Id, format: z.enum(['json', 'yaml']).default('json') });
const DocumentText = z.strictObject({ document: z.string().min(1).max(1_048_576) });
export const ExportOutput = z.union([WorkflowDocument, DocumentText]);
/**
 * Either the fields of a WorkflowDocument, or only `document`. The use case checks which of the two; this schema only
 * describes them.
 */
export const ImportInput = z
  .strictObject({
    ...WorkflowDocument.omit({ description: true, run_setup: true }).partial().shape,
    description: Description.optional(),
    run_setup: SharedRunSetupSchema.optional(),
    folder: FolderPath.optional(),
    tags: Tags.optional(),
    document: DocumentText.shape.document.optional().meta({ description: 'The whole document as JSON or YAML text' }),
  })
  .meta({
    oneOf: [
      { title: 'As fields', required: ['name', 'graph'], not: { required: ['document'] } },
      { title: 'As text', required: ['document'], maxProperties: 1 },
    ],
  });
