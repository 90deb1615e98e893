import { ErrorCode, McpError, type Tool } from '@modelcontextprotocol/sdk/types.js';
import type { z } from 'zod';
import { carriedScopes } from '../../domains/identity/authority.ts';
import { lackingScope } from '../../domains/runs/start/step-scopes.ts';
import type { RunResult } from '../../domains/runs/waiting/schemas.ts';
import { describeTools, type NamedTool, namedTools } from '../../domains/workflows/published-tools.ts';
import type { WorkflowTool } from '../../domains/workflows/tool-of-workflow.ts';
import type { Principal } from '../../operation/context.ts';
import { hasRole } from '../../orchestrator/ports/authority.ts';
import { AppError } from '../../platform/errors.ts';
import { hasScope } from '../invoke.ts';
import { entryOf, invokeOperation } from './operation-tools.ts';
import type { McpCaller, McpOptions, PlatformTool, ToolSet } from './platform-tool.ts';

/** The workflow tools of one page of the list. */
const PAGE = 50;
/** The largest output of a run that an answer has, in bytes of JSON: assistants read it. */
const MAX_SHOWN_OUTPUT_BYTES = 256 * 1024;
/** The operation that a call of a workflow tool invokes. */
const RUN = 'workflows_run';
/** Names of tools that are no operations. */
const OTHER_TOOLS = ['describe_tool', 'health_summary', 'catalog_bff_request', 'workflows_stream_websocket'];

/**
 * The published workflows of the caller's project that declare a tool (docs/specification/mcp.md#workflow-tools). They are looked up
 * for each request, because they belong to a project and change when somebody publishes.
 */
export type WorkflowTools = {
  /** Returns a page of the tools that the caller may call, by name; `next` is the cursor of the page after it. */
  page(caller: McpCaller, cursor: string | null): Promise<{ tools: PlatformTool[]; next: string | null }>;
  /** Returns the tool of this name; undefined if the project has none that the caller may call. */
  find(caller: McpCaller, name: string): Promise<PlatformTool | undefined>;
};

/** Returns the tools that are workflows; null where the deployment does not offer them. */
export function workflowTools(options: McpOptions): WorkflowTools | null {
  const { services, registry } = options;
  if (!services.config.mcp.groups.includes('workflows')) return null;
  const taken = new Set([...registry.byName.keys(), ...OTHER_TOOLS]);
  const named = async ({ principal }: McpCaller): Promise<NamedTool[]> =>
    mayStart(principal) ? namedTools(services, principal, taken) : [];
  const described = async ({ principal }: McpCaller, tools: readonly NamedTool[]) =>
    (await describeTools(services, principal, tools)).map(tool => toolOf(options, tool));
  return {
    async page(caller, cursor) {
      const after = cursor === null ? '' : readCursor(cursor);
      const page: NamedTool[] = [];
      for (const tool of await named(caller)) {
        if (tool.name <= after || !(await isStartable(options, caller.principal, tool))) continue;
        page.push(tool);
        if (page.length > PAGE) break;
      }
      const shown = page.slice(0, PAGE);
      const last = page.length > PAGE ? shown.at(-1) : undefined;
      return {
        tools: await described(caller, shown),
        next: last === undefined ? null : Buffer.from(last.name).toString('base64url'),
      };
    },
    async find(caller, name) {
      const tool = (await named(caller)).find(each => each.name === name);
      if (tool === undefined || !(await isStartable(options, caller.principal, tool))) return undefined;
      return (await described(caller, [tool]))[0];
    },
  };
}

/** Returns a tool of the deployment, whether or not the caller may use it, or a workflow that the caller may start. */
export async function findTool(
  options: McpOptions,
  tools: ToolSet,
  caller: McpCaller,
  name: string,
): Promise<PlatformTool | undefined> {
  return tools.get(name) ?? (await workflowTools(options)?.find(caller, name));
}

function readCursor(cursor: string): string {
  const name = Buffer.from(cursor, 'base64url').toString();
  if (Buffer.from(name).toString('base64url') === cursor) return name;
  throw new McpError(ErrorCode.InvalidParams, 'The cursor is not one of this list.');
}

/** A call starts a run and reads its output. */
const mayStart = (principal: Principal): boolean =>
  hasRole(principal.role, 'project_contributor') &&
  hasScope(principal, 'workflow:run') &&
  hasScope(principal, 'workflow:read');

async function isStartable({ services }: McpOptions, principal: Principal, tool: NamedTool): Promise<boolean> {
  const ref = { tenantId: principal.tenantId, workflowId: tool.id, version: tool.version };
  return (await lackingScope(services.pool, ref, [carriedScopes(principal)])) === null;
}

function toolOf(options: McpOptions, tool: WorkflowTool & { id: string }): PlatformTool {
  const { name, description, readOnly } = tool;
  return {
    group: 'workflows',
    risk: false,
    definition: {
      name,
      title: name,
      description,
      inputSchema: tool.inputSchema as Tool['inputSchema'],
      outputSchema: OUTPUT,
      // The servers that its steps reach are not known here.
      annotations: {
        readOnlyHint: readOnly,
        destructiveHint: !readOnly,
        idempotentHint: readOnly,
        openWorldHint: true,
      },
    },
    usable: () => true,
    call: (caller, args) => call(options, caller, tool, args),
  };
}

const OUTPUT: NonNullable<Tool['outputSchema']> = {
  type: 'object',
  properties: {
    run_id: { type: 'string' },
    workflow_id: { type: 'string' },
    started_at: { type: 'string' },
    status: { type: 'string', description: '`completed`, or `running`: `next` says how to read on' },
    output: { description: 'The output of a run that has completed' },
    output_error: { type: ['object', 'null'], description: 'Why a run that has completed has no output here' },
    next: { type: 'string' },
  },
  required: ['run_id', 'workflow_id', 'status'],
};

/**
 * Starts a run with the arguments as its input, and waits for its output for a limited time. The run is durable: it continues
 * after the time limit and if the client disconnects. Throws AppError for a refused start and for a failed run, with the id of
 * the run.
 */
async function call(
  options: McpOptions,
  caller: McpCaller,
  { id }: { id: string },
  args: Record<string, unknown>,
): Promise<unknown> {
  const { workflowWaitS: wait_s } = options.services.config.mcp;
  // As the payload of a trigger, an argument is never read as a setting of the start, such as `mode`.
  const input = { id, wait_s, params: { trigger_payload: args } };
  const answer = (await invokeOperation(options, entryOf(options, RUN), caller, input).catch(thrown => {
    throw withOwnPaths(thrown);
  })) as z.input<typeof RunResult>;
  const { run_id, workflow_id, started_at, status, error } = answer;
  const started = { run_id, workflow_id, started_at, status };
  const read = `runs_get_summary {"id":"${workflow_id}","run_id":"${run_id}"}`;
  switch (status) {
    case 'completed':
      return { ...started, ...outputOf(answer, read) };
    case 'failed': {
      const where = error?.step_id == null ? '' : ` at the step “${error.step_id}”`;
      const message = `Run ${run_id} failed${where}: ${error?.message ?? 'no reason is known'}`;
      throw new AppError(422, 'run_failed', message, { details: detailsOf(run_id, error) });
    }
    case 'stopped':
      throw new AppError(422, 'run_stopped', `Run ${run_id} was stopped.`, { details: detailsOf(run_id, null) });
    default:
      return {
        ...started,
        next: `The run goes on. Poll ${read} until it has ended; if it is blocked, people must answer its tasks.`,
      };
  }
}

const detailsOf = (runId: string, error: z.input<typeof RunResult>['error']) => [
  { path: 'run_id', message: runId },
  ...(error == null ? [] : [{ path: error.step_id ?? '', message: error.message, code: error.code }]),
];

function outputOf({ output, output_error }: z.input<typeof RunResult>, read: string) {
  const bytes = output === undefined ? 0 : Buffer.byteLength(JSON.stringify(output));
  if (bytes <= MAX_SHOWN_OUTPUT_BYTES) return { output: output ?? null, output_error: output_error ?? null };
  const message = `The output has ${bytes} bytes of JSON, more than an answer holds. ${read} returns it.`;
  return { output: null, output_error: { code: 'output_too_large', message } };
}

/** The arguments of a tool are the input of the run: `input.order` is the argument `order`. */
function withOwnPaths(thrown: unknown): unknown {
  if (!(thrown instanceof AppError)) return thrown;
  for (const detail of thrown.details ?? [])
    detail.path = detail.path.replace(/^(?:input|params\.(?:input|trigger_payload))(?:\.|$)/, '');
  return thrown;
}
