import { isTexts } from '@/server/platform/json.ts';
import { parseJson, readNumber } from '@/server/platform/json-text.ts';
import type { Json } from '../../server/domains/workflows/edits/index.ts';

/** The server's declaration of a step type, from which its form is made. */
export type StepTypeForm = {
  type: string;
  /** The JSON Schema of the fields besides the common fields of all steps. */
  schema: FieldsSchema;
  /** Whether steps of the type can be retried. */
  retries: boolean;
  /** The reason why steps of the type cannot be published on this server; null if they can. */
  unavailable: string | null;
  defaultTimeoutS: number | null;
};
export type FieldsSchema = { properties?: Record<string, PropertySchema>; required?: string[] };
export type PropertySchema = {
  type?: string;
  enum?: readonly Json[];
  description?: string;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  items?: PropertySchema;
};

export type FieldKind =
  | 'lua'
  | 'cel'
  | 'long'
  | 'text'
  | 'choice'
  | 'number'
  | 'flag'
  | 'list'
  | 'json'
  | 'instance'
  | 'tool'
  | 'arguments'
  | 'model'
  | 'agent'
  | 'workflow'
  | 'version'
  | 'input'
  | 'tools'
  | 'limits'
  | 'memory'
  | 'schema'
  | 'steps';
export type StepField = {
  name: string;
  label: string;
  kind: FieldKind;
  required: boolean;
  hint: string | undefined;
  choices: readonly string[];
  integer: boolean;
};

/** Fields whose control does not follow from their schema: code, and choices from lists. */
const OWN_KINDS: Readonly<Record<string, FieldKind>> = {
  'lua_script.script': 'lua',
  'condition.expression': 'cel',
  'mcp_call.instance_id': 'instance',
  'mcp_call.tool_name': 'tool',
  'mcp_call.tool_args': 'arguments',
  'llm_call.model': 'model',
  'agent.model': 'model',
  'agent.agent_id': 'agent',
  'agent.tools': 'tools',
  'agent.limits': 'limits',
  'agent.memory': 'memory',
  'agent.response_schema': 'schema',
  'llm_call.response_schema': 'schema',
  'for_each.steps': 'steps',
  'call_workflow.workflow_id': 'workflow',
  'call_workflow.version': 'version',
  'call_workflow.input': 'input',
};
/** The fields that hold connections of the graph, which have their own editor. */
const CONNECTIONS: ReadonlySet<string> = new Set(['then', 'else']);
/** Texts that may be longer than this get a control with several lines. */
const SHORT_TEXT = 500;

/** Returns the form fields of a step type, required fields first. */
export function fieldsOf({ type, schema }: StepTypeForm): StepField[] {
  const required = new Set(schema.required ?? []);
  const fields = Object.entries(schema.properties ?? {})
    .filter(([name]) => !CONNECTIONS.has(name))
    .map(([name, property]): StepField => {
      const choices = (property.enum ?? []).filter((choice): choice is string => typeof choice === 'string');
      return {
        name,
        label: labelOf(name),
        kind: OWN_KINDS[`${type}.${name}`] ?? kindOf(property),
        required: required.has(name),
        hint: property.description,
        choices,
        integer: property.type === 'integer',
      };
    });
  // The tool choices depend on the instance, so the instance comes first.
  const rank = ({ kind, required }: StepField) => (kind === 'instance' ? 2 : Number(required));
  return fields.sort((a, b) => rank(b) - rank(a));
}

/** Labels of fields that users know by another word than the API name. */
const LABELS: Readonly<Record<string, string>> = {
  agent_id: 'Agent',
  connection_id: 'Connection',
  depends_on: 'Runs after',
  detach: 'Do not wait for the run',
  gated: 'Only when started by name',
  instance_id: 'MCP instance',
  mode: 'What it does',
  on_error: 'If the step fails',
  on_failure: 'When a run fails, start',
  on_item_error: 'If an item fails',
  on_lost: 'If the outcome is unknown',
  overridable: 'Can be changed at start',
  retry_count: 'Retries',
  response_schema: 'Structured answer',
  searchable: 'Searchable values',
  tool_args: 'Arguments',
  tool_name: 'Tool',
  workflow_id: 'Workflow',
};

/** Returns the label of a field: `on_lost` → “If the outcome is unknown”, `retry_delay_s` → “Retry delay (s)”. */
export function labelOf(name: string): string {
  const label = Object.hasOwn(LABELS, name) ? LABELS[name] : undefined;
  if (label !== undefined) return label;
  const words = name
    .replace(/_s$/, ' (s)')
    .replaceAll('_', ' ')
    .replace(/\b(id|url)\b/, acronym => acronym.toUpperCase());
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function kindOf({ type, enum: choices, maxLength, items }: PropertySchema): FieldKind {
  if (choices?.every(choice => typeof choice === 'string')) return 'choice';
  if (type === 'string') return maxLength === undefined || maxLength > SHORT_TEXT ? 'long' : 'text';
  if (type === 'number' || type === 'integer') return 'number';
  if (type === 'boolean') return 'flag';
  return type === 'array' && items?.type === 'string' ? 'list' : 'json';
}

export type FieldRead = { value: Json | undefined } | { problem: string };

/** Parses the text typed into a field of numbers, lists or JSON; undefined if the field is left out. */
export function readFieldText({ kind, integer }: Pick<StepField, 'kind' | 'integer'>, text: string): FieldRead {
  if (text.trim() === '') return { value: undefined };
  if (kind === 'number') {
    const value = readNumber(text);
    if (typeof value === 'number' && !Number.isFinite(value)) return { problem: 'Enter a number.' };
    return integer && typeof value === 'number' && !Number.isInteger(value)
      ? { problem: 'Enter a whole number.' }
      : { value };
  }
  if (kind === 'list') {
    const items = text.split('\n').map(line => line.trim());
    return { value: items.filter(item => item !== '') };
  }
  try {
    return { value: parseJson(text) };
  } catch (error) {
    return { problem: error instanceof Error ? error.message : 'This is not JSON.' };
  }
}

/** Field kinds that accept any JSON, independent of their control. */
export const JSON_KINDS: ReadonlySet<FieldKind> = new Set<FieldKind>([
  'json',
  'arguments',
  'input',
  'tools',
  'limits',
  'memory',
  'schema',
  'steps',
]);

/** Returns the text of a field's value, in the form that `readFieldText` parses. */
export function fieldText(kind: FieldKind, value: Json | undefined): string {
  if (value === undefined) return '';
  if (kind === 'list' && isTexts(value)) return value.join('\n');
  return typeof value === 'object' || JSON_KINDS.has(kind) ? JSON.stringify(value, null, 2) : String(value);
}
