import { z } from 'zod';
import { notFound } from '../../platform/errors.ts';
import { readArguments } from './arguments.ts';
import { argumentsSchema } from './operation-tools.ts';
import type { McpCaller, McpOptions, PlatformTool, ToolSet } from './platform-tool.ts';
import { findTool } from './workflow-tools.ts';

export const DESCRIBE_TOOL = 'describe_tool';

const Arguments = z.strictObject({
  name: z.string().max(200),
  output: z.boolean().default(false).meta({ description: 'Also the schema of its answer' }),
});

/**
 * `describe_tool`: gives the details of a tool that `tools/list` leaves out (docs/specification/mcp.md#the-list-of-tools). It
 * belongs to every group, because all other tools are listed in short form. `tools` is called once all of them exist.
 */
export function describeTool(options: McpOptions, tools: () => ToolSet): PlatformTool {
  return {
    group: 'core',
    risk: false,
    definition: {
      name: DESCRIBE_TOOL,
      title: 'Describe a tool in full',
      description: `Get all that is known about a tool: its description and the schema of its arguments. The list of tools is abbreviated,
so describe a tool before you use it for the first time.`,
      inputSchema: argumentsSchema(Arguments),
      annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    },
    brief: 'Get the whole description and schema of a tool. This list is abbreviated: use it before a first call.',
    usable: () => true,
    async call(caller: McpCaller, args) {
      const { name, output } = readArguments(Arguments, args);
      const tool = await findTool(options, tools(), caller, name);
      if (!tool?.usable(caller.principal)) throw notFound('Tool');
      return fullDescription(tool, output);
    },
  };
}

/** Returns the tool in MCP's form. The output schema, which is often the longest part, is included only if requested. */
export function fullDescription({ definition }: PlatformTool, output: boolean) {
  const { name, title, description, inputSchema, outputSchema, annotations } = definition;
  return {
    name,
    title,
    description,
    inputSchema,
    ...(output && outputSchema !== undefined ? { outputSchema } : {}),
    annotations,
  };
}
