import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import {
  CallToolRequestSchema,
  type CallToolResult,
  ErrorCode,
  GetPromptRequestSchema,
  ListPromptsRequestSchema,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListToolsRequestSchema,
  McpError,
  ReadResourceRequestSchema,
  type Tool,
} from '@modelcontextprotocol/sdk/types.js';
import { CfWorkerJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/cfworker';
import type { AppError } from '../../platform/errors.ts';
import { asAppError, errorBody, logFailure } from '../failure.ts';
import { compactTool } from './compact-tool.ts';
import { DESCRIBE_TOOL } from './describe-tool.ts';
import { fitArguments } from './fit-arguments.ts';
import { type Message, readMessage } from './message.ts';
import type { McpCaller, McpOptions, PlatformTool, ToolSet } from './platform-tool.ts';
import { getPrompt, prompts } from './prompts.ts';
import { listResources, readResource, resourceTemplates } from './resources.ts';
import { findTool, workflowTools } from './workflow-tools.ts';

const instructions = `Baton runs workflows: graphs of steps that are drafted, published as numbered versions and run durably.
To run one: workflows_execute_command with {"command":"start"}, keep the run_id of the answer, poll runs_get_summary until the run has completed,
failed or is blocked (orchestration_phase), and look at tasks_list_pending_run before you report success. A start executes the latest PUBLISHED
version: after a change of the draft, publish with workflows_publish_version. A failed run does not resume: start a new one.
The list of tools is abbreviated: ${DESCRIBE_TOOL} gives the whole description and schema of a tool.`;

/** Answers one message with a new server; `body` is empty if the message needs no answer. */
export async function answerMessage(
  options: McpOptions,
  tools: ToolSet,
  caller: McpCaller,
  { request, value }: { request: Request; value: unknown },
): Promise<{ status: number; body: string }> {
  const message = readMessage(value);
  switch (message.kind) {
    case 'notification':
      return { status: 202, body: '' };
    case 'refused':
      return refuse(message);
    case 'request':
      return answerRequest(options, tools, caller, { request, message: message.request });
  }
}

function refuse({ id, code, message }: Extract<Message, { kind: 'refused' }>): { status: number; body: string } {
  const isReadable = code === ErrorCode.InvalidParams;
  return { status: isReadable ? 200 : 400, body: JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } }) };
}

async function answerRequest(
  options: McpOptions,
  tools: ToolSet,
  caller: McpCaller,
  { request, message }: { request: Request; message: unknown },
): Promise<{ status: number; body: string }> {
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  const server = createMcpServer(options, tools, caller);
  try {
    await server.connect(transport);
    const answer = await transport.handleRequest(request, { parsedBody: message });
    return { status: answer.status, body: await answer.text() };
  } finally {
    await server.close();
  }
}

/**
 * Creates an MCP server for one request of one caller, which lists and runs what the caller's role and scopes allow. A
 * tool's refusal is a result with `isError` that contains the API's error body, so that an assistant reads the same
 * code and details as a program.
 */
function createMcpServer(options: McpOptions, tools: ToolSet, caller: McpCaller): Server {
  const server = new Server(
    { name: 'baton', title: 'Baton', version: '1' },
    {
      capabilities: { tools: {}, resources: {}, prompts: {} },
      instructions,
      // Used for elicitation alone, which Baton never does. The default would make an instance of Ajv for each request: 120 µs.
      jsonSchemaValidator: new CfWorkerJsonSchemaValidator(),
    },
  );
  const usable = () => [...tools.values()].filter(tool => tool.usable(caller.principal));
  server.setRequestHandler(ListToolsRequestSchema, ({ params }) =>
    translateErrors(options, caller, async () => {
      const workflows = workflowTools(options);
      if (workflows === null) return { tools: usable().map(shortDefinition) };
      const cursor = params?.cursor ?? null;
      const { tools: found, next } = await workflows.page(caller, cursor);
      const shown = [...(cursor === null ? usable() : []), ...found];
      return { tools: shown.map(shortDefinition), ...(next === null ? {} : { nextCursor: next }) };
    }),
  );
  server.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
    const tool = await translateErrors(options, caller, () => findTool(options, tools, caller, params.name));
    if (!tool) throw new McpError(ErrorCode.InvalidParams, `There is no tool ${params.name.slice(0, 100)}`);
    return callTool(options, tool, caller, params.arguments ?? {});
  });
  server.setRequestHandler(ListResourceTemplatesRequestSchema, () => ({ resourceTemplates }));
  server.setRequestHandler(ListResourcesRequestSchema, ({ params }) =>
    translateErrors(options, caller, () => listResources(options, caller, params?.cursor)),
  );
  server.setRequestHandler(ReadResourceRequestSchema, ({ params }) =>
    translateErrors(options, caller, () => readResource(options, { tools, caller }, params.uri)),
  );
  server.setRequestHandler(ListPromptsRequestSchema, () => ({ prompts }));
  server.setRequestHandler(GetPromptRequestSchema, ({ params }) =>
    translateErrors(options, caller, () => getPrompt(options, caller, params.name, params.arguments ?? {})),
  );
  return server;
}

/** The shortened definitions, created once for all clients. */
const shortDefinitions = new WeakMap<PlatformTool, Tool>();

function shortDefinition(tool: PlatformTool): Tool {
  const definition = shortDefinitions.get(tool) ?? compactTool(tool.definition, tool.brief);
  shortDefinitions.set(tool, definition);
  return definition;
}

async function callTool(
  options: McpOptions,
  tool: PlatformTool,
  caller: McpCaller,
  args: Record<string, unknown>,
): Promise<CallToolResult> {
  try {
    const output = await tool.call(caller, fitArguments(tool.definition.inputSchema, args));
    const value = output ?? { done: true };
    return {
      content: [{ type: 'text', text: JSON.stringify(value) }],
      structuredContent: value as Record<string, unknown>,
    };
  } catch (thrown) {
    const error = logAsAppError(options, caller, tool.definition.name, thrown);
    const content = [{ type: 'text' as const, text: JSON.stringify(errorBody(error, caller.requestId)) }];
    if (error.code === 'validation_error' && tool.definition.name !== DESCRIBE_TOOL)
      content.push({ type: 'text', text: whereDescribed(tool) });
    return { isError: true, content };
  }
}

/** Refers to `describe_tool`, because the list of tools may not show the refused arguments. */
const whereDescribed = ({ definition: { name } }: PlatformTool) =>
  `${DESCRIBE_TOOL} {"name":"${name}"} returns the schema of the arguments.`;

/**
 * Runs `work`. Resources and prompts have no error result, so an error of the API is thrown as a JSON-RPC error with the
 * API's error as its data.
 */
async function translateErrors<T>(options: McpOptions, caller: McpCaller, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    if (thrown instanceof McpError) throw thrown;
    const error = logAsAppError(options, caller, 'mcp', thrown);
    const code = error.status >= 500 ? ErrorCode.InternalError : ErrorCode.InvalidParams;
    throw new McpError(code, error.message, errorBody(error, caller.requestId));
  }
}

function logAsAppError(options: McpOptions, { requestId }: McpCaller, operation: string, thrown: unknown): AppError {
  const error = asAppError(thrown);
  logFailure(options.services.logger, error, { requestId, operation });
  return error;
}
