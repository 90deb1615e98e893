import type { McpOptions, PlatformTool } from '../api/mcp/platform-tool.ts';
import { toolSet } from '../api/mcp/surface.ts';
import { operations } from '../api/operations.ts';
import { createRegistry } from '../api/registry.ts';
import { readConfig } from '../operation/config.ts';
import { MCP_GROUPS } from '../operation/mcp-groups.ts';

/** Returns the tools of these groups in a deployment with every feature, including risk tools. Only their definitions can be used. */
export function toolsOf(groups: readonly string[]): PlatformTool[] {
  const features = operations.flatMap(each => ('feature' in each && each.feature ? [String(each.feature)] : []));
  const mcp = { ...readConfig({}).mcp, groups, risk: true };
  const options = { registry: createRegistry(operations), features: new Set(features), services: { config: { mcp } } };
  return [...toolSet(options as unknown as McpOptions).values()];
}

export const allTools = (): PlatformTool[] => toolsOf(MCP_GROUPS);
