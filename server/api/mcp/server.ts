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
} from '@modelcontextprotocol/sdk/types.js';
import { CfWorkerJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/cfworker';
import type { AppError } from '../../platform/errors.ts';
import { asAppError, errorBody, logFailure } from '../failure.ts';
import type { McpCaller, McpOptions, PlatformTool } from './platform-tool.ts';
import { getPrompt, prompts } from './prompts.ts';
import { listResources, readResource, resourceTemplates } from './resources.ts';

const instructions = `Baton runs workflows: graphs of steps that are drafted, published as numbered versions and run durably.
To run one: workflows_execute_command with {"command":"start"}, keep the run_id of the answer, poll runs_get_summary until the run has completed,
failed or is blocked (orchestration_phase), and look at tasks_list_pending_run before you report success. A start executes the latest PUBLISHED
version: after a change of the draft, publish with workflows_publish_version. A failed run does not resume: start a new one.`;

/** The tools of this deployment by name, in the order in which they are listed. */
export type ToolSet = ReadonlyMap<string, PlatformTool>;

/** Answers one message with a server of its own; `type` and `body` are those of the HTTP answer. */
export async function answerMessage(
  options: McpOptions,
  tools: ToolSet,
  caller: McpCaller,
  { request, message }: { request: Request; message: unknown },
): Promise<{ status: number; type: string | null; body: string }> {
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  const server = createMcpServer(options, tools, caller);
  try {
    await server.connect(transport);
    const answer = await transport.handleRequest(request, { parsedBody: message });
    return { status: answer.status, type: answer.headers.get('content-type'), body: await answer.text() };
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
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: usable().map(tool => tool.definition) }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
    const tool = tools.get(params.name);
    if (!tool) throw new McpError(ErrorCode.InvalidParams, `There is no tool ${params.name.slice(0, 100)}`);
    return callTool(options, tool, caller, params.arguments ?? {});
  });
  server.setRequestHandler(ListResourceTemplatesRequestSchema, () => ({ resourceTemplates }));
  server.setRequestHandler(ListResourcesRequestSchema, ({ params }) =>
    translated(options, caller, () => listResources(options, caller, params?.cursor)),
  );
  server.setRequestHandler(ReadResourceRequestSchema, ({ params }) =>
    translated(options, caller, () => readResource(options, caller, params.uri)),
  );
  server.setRequestHandler(ListPromptsRequestSchema, () => ({ prompts }));
  server.setRequestHandler(GetPromptRequestSchema, ({ params }) =>
    translated(options, caller, () => getPrompt(options, caller, params.name, params.arguments ?? {})),
  );
  return server;
}

async function callTool(
  options: McpOptions,
  tool: PlatformTool,
  caller: McpCaller,
  args: Record<string, unknown>,
): Promise<CallToolResult> {
  try {
    const output = await tool.call(caller, args);
    const value = output ?? { done: true };
    return {
      content: [{ type: 'text', text: JSON.stringify(value) }],
      structuredContent: value as Record<string, unknown>,
    };
  } catch (thrown) {
    const error = known(options, caller, tool.definition.name, thrown);
    return { isError: true, content: [{ type: 'text', text: JSON.stringify(errorBody(error, caller.requestId)) }] };
  }
}

/**
 * Resources and prompts have no error result: a refusal of the API is a JSON-RPC error with
 * the API's error as its data.
 */
async function translated<T>(options: McpOptions, caller: McpCaller, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (thrown) {
    if (thrown instanceof McpError) throw thrown;
    const error = known(options, caller, 'mcp', thrown);
    const code = error.status >= 500 ? ErrorCode.InternalError : ErrorCode.InvalidParams;
    throw new McpError(code, error.message, errorBody(error, caller.requestId));
  }
}

function known(options: McpOptions, { requestId }: McpCaller, operation: string, thrown: unknown): AppError {
  const error = asAppError(thrown);
  logFailure(options.services.logger, error, { requestId, operation });
  return error;
}
