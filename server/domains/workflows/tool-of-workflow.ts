import {
  type JsonMap,
  type JsonValue,
  MAX_TOOL_DESCRIPTION_LENGTH,
  WORKFLOW_TOOL_NAME,
} from '../../orchestrator/core/index.ts';
import { isObject } from '../../platform/json.ts';

/** A published workflow as a tool of agents and of MCP clients. */
export type WorkflowTool = { name: string; description: string; inputSchema: JsonMap; readOnly: boolean };

/** The parts of a published workflow from which a tool is made: its name and description, and fields of its version. */
export type ToolSource = {
  name: string;
  description: string;
  /** `tool` of the graph; null for a workflow that declares none. */
  tool: { name?: string; description?: string; read_only?: boolean } | null;
  /** `input_schema` of the graph. */
  inputSchema: JsonMap | null;
  /** `trigger_payload` of the run setup: the saved input of a start. */
  triggerPayload: JsonMap | null;
};

/** The name of a tool whose workflow name has no letter that tool names may have. */
const UNNAMED = 'workflow';
const MAX_NAME_LENGTH = 64;

/**
 * Returns a published workflow as a tool (docs/specification/workflows.md#tool). Another tool may have the same name.
 */
export function toolOfWorkflow(source: ToolSource): WorkflowTool {
  return {
    name: toolName(source.tool?.name, source.name),
    description: descriptionOf(source),
    inputSchema: inputSchemaOf(source),
    readOnly: source.tool?.read_only === true,
  };
}

/** Returns the declared name if models accept it, otherwise a name derived from the name of the workflow. */
export function toolName(declared: string | undefined, workflowName: string): string {
  if (declared !== undefined && WORKFLOW_TOOL_NAME.test(declared)) return declared;
  const letters = workflowName
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .slice(0, MAX_NAME_LENGTH)
    .replace(/^_+|_+$/g, '');
  if (letters === '') return UNNAMED;
  return WORKFLOW_TOOL_NAME.test(letters) ? letters : `_${letters}`.slice(0, MAX_NAME_LENGTH);
}

function descriptionOf({ tool, name, description }: ToolSource): string {
  const texts = [tool?.description, description].map(text => text?.trim() ?? '');
  const firstText = texts.find(text => text !== '') ?? `Runs the workflow “${name}” and returns its output.`;
  return firstText.slice(0, MAX_TOOL_DESCRIPTION_LENGTH);
}

/**
 * Returns the input schema of the graph. A workflow without one accepts any fields; the schema then lists the fields of
 * the saved input, so that a model knows them. A tool's schema must have the type `object`.
 */
function inputSchemaOf({ inputSchema, triggerPayload }: ToolSource): JsonMap {
  if (inputSchema !== null) {
    const { $schema: _, ...schema } = inputSchema;
    return { ...schema, type: 'object' };
  }
  const properties = Object.entries(triggerPayload ?? {}).map(([name, value]) => [name, schemaOf(value)]);
  return { type: 'object', properties: Object.fromEntries(properties) };
}

/** Returns the schema for the type of a saved value; null has no type. */
function schemaOf(value: JsonValue): JsonMap {
  if (value === null) return {};
  if (Array.isArray(value)) return { type: 'array', items: {} };
  if (isObject(value)) return { type: 'object' };
  return { type: typeof value === 'bigint' ? 'number' : typeof value };
}
