import type { Tool } from '@modelcontextprotocol/sdk/types.js';
import type { Context, Principal } from '../../operation/context.ts';
import type { McpGroup } from '../../operation/mcp-groups.ts';
import type { Invoker } from '../invoke.ts';
import type { Registry } from '../registry.ts';

/** The dependencies of every tool of the Platform MCP endpoint. */
export type McpOptions = Invoker & { registry: Registry };

/** The caller and the request. */
export type McpCaller = {
  principal: Principal;
  requestId: string;
  address?: string;
  agentCall?: Context['agentCall'];
  /** The header with the lineage of the run whose step sent the request. */
  lineage?: string | undefined;
  onDisconnect?: Context['onDisconnect'];
};

/** A tool of the Platform MCP endpoint (docs/specification/mcp.md#tool-groups). */
export type PlatformTool = {
  readonly group: McpGroup;
  /** Its answers contain secrets: hidden unless the deployment enables the risk group. */
  readonly risk: boolean;
  readonly definition: Tool;
  /** The short description in `tools/list`, if the first sentences of the full description are no summary. */
  readonly brief?: string;
  /** Returns whether this caller's role and scopes allow it; otherwise it is not listed. */
  usable(principal: Principal): boolean;
  /** Executes it. Throws AppError. */
  call(caller: McpCaller, args: Record<string, unknown>): Promise<unknown>;
};

/** The tools of this deployment by name, in the order in which they are listed. */
export type ToolSet = ReadonlyMap<string, PlatformTool>;
