import { z } from 'zod';
import type { Graph, JsonMap, JsonValue } from '../../orchestrator/core/index.ts';
import { isObject } from '../../platform/json.ts';

/** A published workflow as a tool, for the models of agents and for clients of MCP. */
export type WorkflowTool = {
  /** Letters, digits and `_`, beginning with a letter, at most 56 characters; two workflows may have the same one. */
  name: string;
  description: string;
  inputSchema: JsonMap;
  /** Its author says that its runs change nothing. */
  readOnly: boolean;
};

const MAX_NAME_LENGTH = 56;
const MAX_DESCRIPTION_LENGTH = 4_000;

/** The description that a graph gives of itself as a tool. A field that cannot be used is as if it were not there. */
const Said = z.object({
  name: z.string().optional().catch(undefined),
  description: z.string().optional().catch(undefined),
  read_only: z.boolean().optional().catch(undefined),
});

/**
 * Returns a version of a workflow as a tool: what its `graph.tool` says, else its name and description. `runSetup`: that of the version,
 * from which the input is guessed where the graph has no `input_schema`.
 */
export function toolOf(
  workflow: { name: string; description: string },
  graph: Graph,
  runSetup: { trigger_payload?: JsonMap | undefined } | null = null,
): WorkflowTool {
  const { tool } = graph as { tool?: unknown };
  const said = Said.safeParse(tool).data ?? {};
  const description =
    said.description?.trim() || workflow.description.trim() || `Runs the workflow “${workflow.name}”.`;
  return {
    name: toolName(said.name?.trim() || workflow.name),
    description: description.slice(0, MAX_DESCRIPTION_LENGTH).toWellFormed(),
    inputSchema: graph.input_schema ?? guessedSchema(runSetup?.trigger_payload ?? {}),
    readOnly: said.read_only === true,
  };
}

/** Some providers take only names that begin with a letter. */
function toolName(name: string): string {
  const plain = name
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^A-Za-z0-9]+/g, '_')
    .replaceAll(/^_+|_+$/g, '');
  const named = /^[A-Za-z]/.test(plain) ? plain : `workflow_${plain}`;
  return named.slice(0, MAX_NAME_LENGTH).replaceAll(/_+$/g, '');
}

/** The input of a workflow that has no schema may be anything; the payload of its run setup is an example. */
function guessedSchema(example: JsonMap): JsonMap {
  const properties = Object.entries(example).map(([name, value]): [string, JsonMap] => [name, { ...typeOf(value) }]);
  return { type: 'object', ...(properties.length > 0 && { properties: Object.fromEntries(properties) }) };
}

function typeOf(value: JsonValue): JsonMap {
  if (value === null) return {};
  if (Array.isArray(value)) return { type: 'array' };
  if (isObject(value)) return { type: 'object' };
  // Integers beyond 2^53 are bigint.
  return { type: typeof value === 'bigint' ? 'number' : typeof value };
}
