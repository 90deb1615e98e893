import { isObject } from '../../platform/json.ts';
import { allSteps, type Graph, MAX_TOOL_DESCRIPTION_LENGTH, WORKFLOW_TOOL_NAME } from '../core/index.ts';
import type { Collector } from './validate.ts';

const FIELDS: ReadonlySet<string> = new Set(['name', 'description', 'read_only']);

/** Checks `tool` of a graph (docs/specification/workflows.md#tool), apart from the names of other tools of the project. */
export function checkWorkflowTool(graph: Graph, into: Collector): void {
  if (graph.tool === undefined) return;
  const tool: Record<string, unknown> = isObject(graph.tool) ? graph.tool : {};
  for (const field of Object.keys(tool)) {
    if (!FIELDS.has(field))
      into.error(null, `tool.${field.slice(0, 80)}`, 'unknown_field', `tool has only ${[...FIELDS].join(', ')}`);
  }
  const { name, description, read_only } = tool;
  if (name !== undefined && (typeof name !== 'string' || !WORKFLOW_TOOL_NAME.test(name)))
    into.error(
      null,
      'tool.name',
      'invalid_field',
      'must be a letter or _, then letters, digits, _ and -, at most 64 in all',
    );
  const isText = typeof description === 'string' && description.length <= MAX_TOOL_DESCRIPTION_LENGTH;
  if (description !== undefined && !isText)
    into.error(
      null,
      'tool.description',
      'invalid_field',
      `must be a text of at most ${MAX_TOOL_DESCRIPTION_LENGTH} characters`,
    );
  if (read_only !== undefined && typeof read_only !== 'boolean')
    into.error(null, 'tool.read_only', 'invalid_field', 'must be true or false');
  if (read_only === true) warnOfWrites(graph, into);
}

/** Warns of steps that plainly send more than a read, because agents call a tool that only reads without asking. */
function warnOfWrites(graph: Graph, into: Collector): void {
  for (const { id, type, method = 'GET', disabled } of allSteps(graph)) {
    if (type !== 'http_request' || disabled === true || method === 'GET' || method === 'HEAD') continue;
    const message = `says that the workflow changes nothing, but the step "${id}" sends a ${String(method).slice(0, 20)} request`;
    into.warn(null, 'tool.read_only', 'tool_may_write', message);
  }
}
