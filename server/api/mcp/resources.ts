import { ErrorCode, McpError } from '@modelcontextprotocol/sdk/types.js';
import { fullDescription } from './describe-tool.ts';
import { entryOf, invokeOperation } from './operation-tools.ts';
import type { McpCaller, McpOptions, ToolSet } from './platform-tool.ts';
import { findTool } from './workflow-tools.ts';

const json = 'application/json';
const uuid = '[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}';

/** MCP resources. A workflow and a run are read through the corresponding operation, with its role and scope. */
export const resourceTemplates = [
  {
    name: 'workflow',
    title: 'Workflow',
    uriTemplate: 'baton://workflows/{id}',
    description: 'The draft of a workflow: its graph, run setup and status.',
    mimeType: json,
  },
  {
    name: 'run',
    title: 'Run',
    uriTemplate: 'baton://workflows/{id}/runs/{run_id}',
    description: 'Get the state of a run, step by step.',
    mimeType: json,
  },
  {
    name: 'tool',
    title: 'Tool',
    uriTemplate: 'baton://tools/{name}',
    description: 'The whole description of a tool, with the schemas of its arguments and of its answer.',
    mimeType: json,
  },
];

const workflowUri = new RegExp(`^baton://workflows/(${uuid})$`);
const toolUri = /^baton:\/\/tools\/([\w-]{1,200})$/;
const runUri = new RegExp(`^baton://workflows/(${uuid})/runs/(${uuid})$`);

/** Lists the newest workflows, page by page. */
export async function listResources(options: McpOptions, caller: McpCaller, cursor: string | undefined) {
  const answer = (await invokeOperation(options, entryOf(options, 'workflows_list'), caller, {
    limit: 50,
    graphs: false,
    ...(cursor === undefined ? {} : { cursor }),
  })) as { workflows: { id: string; name: string; description: string }[]; next_cursor: string | null };
  return {
    resources: answer.workflows.map(({ id, name, description }) => ({
      uri: `baton://workflows/${id}`,
      name,
      title: name,
      ...(description === '' ? {} : { description }),
      mimeType: json,
    })),
    ...(answer.next_cursor === null ? {} : { nextCursor: answer.next_cursor }),
  };
}

/** Throws McpError for an unknown URI, AppError as the operation does. */
export async function readResource(
  options: McpOptions,
  { tools, caller }: { tools: ToolSet; caller: McpCaller },
  uri: string,
) {
  const run = runUri.exec(uri);
  const workflow = workflowUri.exec(uri);
  const value = run
    ? await invokeOperation(options, entryOf(options, 'runs_get_summary'), caller, { id: run[1], runID: run[2] })
    : workflow
      ? await invokeOperation(options, entryOf(options, 'workflows_get'), caller, { id: workflow[1] })
      : await describeAt(options, uri, { tools, caller });
  if (value === undefined) throw new McpError(ErrorCode.InvalidParams, `There is no resource ${uri.slice(0, 200)}`);
  return { contents: [{ uri, mimeType: json, text: JSON.stringify(value) }] };
}

async function describeAt(options: McpOptions, uri: string, { tools, caller }: { tools: ToolSet; caller: McpCaller }) {
  const tool = await findTool(options, tools, caller, toolUri.exec(uri)?.[1] ?? '');
  return tool?.usable(caller.principal) ? fullDescription(tool, true) : undefined;
}
