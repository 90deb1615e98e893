import type { JsonMap, JsonValue } from '../../../orchestrator/core/index.ts';
import { isObject } from '../../../platform/json.ts';
import { EditSchema } from '../../workflows/edit-schemas.ts';

/** Shortens an operation for a model: the schema of its arguments and its output. */
export type Brief = {
  /** Returns a shorter schema. The service validates arguments with the complete schema and reports their problems. */
  input: (schema: JsonMap) => JsonMap;
  output: (output: JsonValue) => JsonValue;
};

/** The inverse of an edit. Models copy it from an answer and need no description of it. */
const HIDDEN_EDIT = 'restore';
const kinds = EditSchema.options.filter(({ shape }) => shape.type.value !== HIDDEN_EDIT);

/** Describes each edit in a line: its name and its fields. */
const lines = kinds.map(({ shape }) => {
  const { type, ...fields } = shape;
  const named = Object.entries(fields).map(([name, field]) => (field.safeParse(undefined).success ? `${name}?` : name));
  return `${type.value}: ${named.join(', ')}`;
});

const EDITS = `Objects with a type and its fields:
${lines.join('\n')}
A step that is added is the whole step {id, type, depends_on?, …}, any other the id of one. branch: then or else, of a condition; a step may be in both, and disconnect comes first to move it. heal: true connects what depended on the step to what it depended on. Fields of a graph: input_schema, output, on_failure, searchable, tool. run_setup: {trigger_payload?: the default input, use_as_default?: true}. A note that is set: {id, text, position: {x, y}}.`;

const propose: Brief = { input: withEdits(EDITS), output: withoutContents };
const edit: Brief = { input: withEdits('As those of autopilot_propose'), output: withoutContents };

/** The shortened operations, by name. The schema of edits is as long as all other schemas together, and each output repeats the whole draft. */
export const BRIEF: Readonly<Record<string, Brief>> = { autopilot_propose: propose, autopilot_edit_proposal: edit };

function withEdits(description: string) {
  const items = { type: 'object', properties: { type: { type: 'string' } }, required: ['type'] };
  return ({ $defs: _, properties, ...rest }: JsonMap): JsonMap => ({
    ...rest,
    properties: { ...(properties as JsonMap), edits: { type: 'array', description, items } },
  });
}

function withoutContents(output: JsonValue): JsonValue {
  if (!isObject(output)) return output;
  const { draft: _draft, diff: _diff, ...rest } = output;
  return rest;
}
