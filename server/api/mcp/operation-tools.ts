import type { Tool } from '@modelcontextprotocol/sdk/types.js';
import type { z } from 'zod';
import { isAnnounced } from '../../operation/features.ts';
import { isReadOnly, type ToolHints } from '../../operation/operation.ts';
import type { JsonMap } from '../../orchestrator/core/index.ts';
import { hasRole } from '../../orchestrator/ports/authority.ts';
import { AppError } from '../../platform/errors.ts';
import { parseObject } from '../input.ts';
import { hasScope, invoke } from '../invoke.ts';
import { inputJsonSchema, type JsonSchema } from '../parameters.ts';
import type { RegisteredOperation } from '../registry.ts';
import { briefSchema } from './brief-schema.ts';
import type { McpCaller, McpOptions, PlatformTool } from './platform-tool.ts';

/** `runID` of the routes is `run_id` in a tool (docs/specification/mcp.md#platform-mcp-endpoint). */
const argumentName = (parameter: string) => parameter.replace(/[A-Z]+/g, letters => `_${letters.toLowerCase()}`);

/** Returns the tools that are operations: one for each that declares an MCP group, with its name and description. */
export function operationTools(options: McpOptions): PlatformTool[] {
  const { registry } = options;
  const declared = registry.operations.filter(({ operation: { mcp } }) => mcp !== undefined && mcp.tool !== false);
  return toolsOf(options, declared, entry => ({ description: withRoute(entry), inputSchema: argumentsOf(entry) }));
}

/**
 * Returns the operations that an agent may be given: the tools above, and all read-only operations; but none that returns a
 * secret, and none by which agents could call agents.
 */
export function agentOperationTools(options: McpOptions): PlatformTool[] {
  const { registry } = options;
  const given = registry.operations.filter(({ operation: { mcp, method, produces, path, startsRun, tag } }) => {
    if (
      mcp?.risk === true ||
      mcp?.agents === false ||
      produces !== undefined ||
      path.split('/').includes('credentials')
    )
      return false;
    if (tag === 'Chat' || (tag === 'Autopilot' && startsRun !== undefined && path.endsWith('/chat'))) return false;
    return mcp === undefined ? method === 'GET' : mcp.tool !== false;
  });
  // Each turn sends the schemas to a model, and their tokens are charged.
  return toolsOf(options, given, entry => ({
    description: textsOf(entry).join('\n\n'),
    inputSchema: briefSchema(argumentsOf(entry) as JsonMap) as Tool['inputSchema'],
  }));
}

function toolsOf(
  options: McpOptions,
  entries: readonly RegisteredOperation[],
  told: (entry: RegisteredOperation) => Pick<Tool, 'description' | 'inputSchema'>,
): PlatformTool[] {
  return entries.flatMap(entry => {
    const { operation } = entry;
    if (operation.access === 'public') return [];
    const { feature } = operation;
    if (feature !== undefined && !isAnnounced(feature) && !options.features.has(feature)) return [];
    const { access, scope } = operation;
    const tool: PlatformTool = {
      group: operation.mcp?.group ?? 'core',
      risk: operation.mcp?.risk === true,
      definition: define(entry, told(entry)),
      usable: principal => hasRole(principal.role, access) && hasScope(principal, scope),
      call: (caller, args) => invokeRead(options, entry, caller, () => readInput(entry, args)),
    };
    return [tool];
  });
}

/** Invokes an operation as this surface does: REST's own checks, no headers. Throws AppError. */
export function invokeOperation(
  options: McpOptions,
  entry: RegisteredOperation,
  caller: McpCaller,
  input: Record<string, unknown>,
): Promise<unknown> {
  return invokeRead(options, entry, caller, () => parseObject(entry, input));
}

/** Does the same with the input that `read` returns. `read` is called after the caller's rights are checked. */
export async function invokeRead(
  options: McpOptions,
  entry: RegisteredOperation,
  { principal, requestId, address, agentCall, lineage, onDisconnect }: McpCaller,
  read: () => unknown,
): Promise<unknown> {
  const { output } = await invoke(options, {
    entry,
    principal,
    requestId,
    surface: 'mcp',
    ...(address !== undefined && { clientAddress: address }),
    ...(agentCall !== undefined && { agentCall }),
    ...(onDisconnect !== undefined && { onDisconnect }),
    lineage,
    header: () => undefined,
    input: read,
  });
  return output;
}

const textsOf = ({ operation: { summary, description } }: RegisteredOperation): string[] =>
  description === undefined ? [`${summary}.`] : [`${summary}.`, description];

const withRoute = (entry: RegisteredOperation): string =>
  [...textsOf(entry), `REST: ${entry.operation.method} ${entry.operation.path}`].join('\n\n');

const argumentsOf = ({ inputSchema, pathParameters }: RegisteredOperation) => renamed(inputSchema, pathParameters);

function define(entry: RegisteredOperation, told: Pick<Tool, 'description' | 'inputSchema'>): Tool {
  const { operation } = entry;
  return {
    name: operation.name,
    title: operation.summary,
    ...told,
    // Written when a client first asks for the tools, because it takes long for all of them.
    get outputSchema() {
      return operation.status === 204 ? undefined : outputSchema(entry);
    },
    annotations: { title: operation.summary, ...annotationsOf(toolHints(operation)) },
  };
}

/** Returns the guarantees of the method (RFC 9110, 9.2), corrected by the declaration. */
function toolHints(operation: RegisteredOperation['operation']): ToolHints {
  const { method, mcp } = operation;
  const readOnly = isReadOnly(operation);
  return {
    readOnly,
    destructive: !readOnly && method !== 'POST',
    idempotent: readOnly || method !== 'POST',
    openWorld: false,
    ...mcp?.hints,
  };
}

const annotationsOf = (hints: ToolHints): Tool['annotations'] => ({
  readOnlyHint: hints.readOnly,
  destructiveHint: hints.destructive,
  idempotentHint: hints.idempotent,
  openWorldHint: hints.openWorld,
});

function renamed(schema: JsonSchema, pathParameters: readonly string[]): Tool['inputSchema'] {
  const { $schema: _, properties = {}, required = [], ...rest } = schema;
  const rename = (name: string) => (pathParameters.includes(name) ? argumentName(name) : name);
  return {
    ...rest,
    type: 'object',
    properties: Object.fromEntries(Object.entries(properties as object).map(([name, value]) => [rename(name), value])),
    required: (required as string[]).map(rename),
  };
}

/** Returns the output schema if its root is an object, as MCP requires. Without a schema, clients get only the text. */
function outputSchema(entry: RegisteredOperation): Tool['outputSchema'] {
  const { $schema: _, ...json } = entry.outputSchema;
  return json.type === 'object' ? (json as Tool['outputSchema']) : undefined;
}

/**
 * Parses the arguments of a tool. Throws AppError, whose details name the arguments as the tool does. A malformed path parameter
 * is 404, as on every surface; here the error also describes the parameter's form, because the list of tools does not show it.
 */
function readInput(entry: RegisteredOperation, args: Record<string, unknown>): unknown {
  const input = toInput(entry, args);
  const isOfPath = (name: string) => entry.pathParameters.includes(name);
  try {
    return parseObject(entry, input);
  } catch (thrown) {
    if (!(thrown instanceof AppError)) throw thrown;
    for (const detail of thrown.details ?? []) if (isOfPath(detail.path)) detail.path = argumentName(detail.path);
    if (thrown.status !== 404) throw thrown;
    const { error } = entry.operation.input.safeParse(input);
    const details = (error?.issues ?? []).flatMap(({ path, message }) => {
      const name = String(path[0]);
      return isOfPath(name) ? [{ path: argumentName(name), message }] : [];
    });
    throw new AppError(404, thrown.code, thrown.message, { details });
  }
}

/** Returns the arguments under the names of the operation's input. */
function toInput({ pathParameters }: RegisteredOperation, args: Record<string, unknown>): Record<string, unknown> {
  const names = new Map(pathParameters.map(name => [argumentName(name), name]));
  return Object.fromEntries(Object.entries(args).map(([name, value]) => [names.get(name) ?? name, value]));
}

/** Returns the JSON Schema of a tool's own zod schema, in the form of `Tool.inputSchema`. */
export function argumentsSchema(schema: z.ZodType): Tool['inputSchema'] {
  return renamed(inputJsonSchema(schema), []);
}

/** Returns an operation by its name. */
export function entryOf({ registry }: McpOptions, name: string): RegisteredOperation {
  const entry = registry.byName.get(name);
  if (!entry) throw new Error(`There is no operation ${name}.`);
  return entry;
}
