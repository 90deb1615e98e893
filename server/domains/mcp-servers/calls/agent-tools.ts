import type { Services } from '../../../operation/services.ts';
import type { JsonMap } from '../../../orchestrator/core/index.ts';
import type { StepProblem } from '../../../orchestrator/ports/step-type.ts';
import type { AgentTools, OfferedTool } from '../../../orchestrator/steps/agent/tools.ts';
import { AppError } from '../../../platform/errors.ts';
import type { McpTool } from '../../../platform/mcp-client/index.ts';
import { findOffer, instanceProblem } from './binding.ts';
import { argumentProblems } from './input-schema.ts';

const ALL = '*';
const MAX_PROBLEMS = 5;

/** Creates the port to the tools that agents may get, from the published versions of their servers. */
export function createAgentTools(services: Pick<Services, 'pool'>): AgentTools {
  return {
    async check(scope, { instanceId, tools }) {
      try {
        const offer = await findOffer(services, { ...scope, instanceId });
        const names = new Set(offer.tools.map(({ name }) => name));
        return tools.flatMap((name, index) =>
          name === ALL || names.has(name) ? [] : [unknownTool(offer.instance.name, name, index)],
        );
      } catch (error) {
        return [instanceProblem(error)];
      }
    },
    async offer(ref) {
      try {
        const { instance, server, tools } = await findOffer(services, ref);
        const credentials = server.authMode !== 'none';
        return {
          kind: 'offer',
          instance: instance.name,
          tools: tools.map(tool => ({ ...toOfferedTool(tool), credentials })),
        };
      } catch (error) {
        if (!(error instanceof AppError)) throw error;
        const code = error.status === 404 ? 'unknown_instance' : error.code;
        return { kind: 'failed', code, message: error.message, retryable: error.status >= 500 };
      }
    },
    problems: (inputSchema, args) =>
      argumentProblems(inputSchema, args)
        .slice(0, MAX_PROBLEMS)
        .map(({ path, message }) => `${path.replace('tool_args', 'arguments')}: ${message}`),
  };
}

function unknownTool(instance: string, name: string, index: number): StepProblem {
  const message = `the instance “${instance}” has no tool “${name.slice(0, 200)}”`;
  return { path: `tools[${index}]`, code: 'unknown_tool', message };
}

/** Returns a tool with its published hints. Missing hints get the MCP specification's defaults, which assume the worst. */
function toOfferedTool({ name, description, inputSchema, annotations }: McpTool): OfferedTool {
  return {
    name,
    description: description ?? '',
    inputSchema: inputSchema as JsonMap,
    readOnly: annotations?.readOnlyHint === true,
    destructive: annotations?.destructiveHint === true && annotations.readOnlyHint !== true,
    idempotent: annotations?.idempotentHint === true,
    openWorld: annotations?.openWorldHint !== false,
  };
}
