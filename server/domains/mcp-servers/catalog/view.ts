import type { z } from 'zod';
import type { JsonObject } from '../../../platform/json.ts';
import type { McpTool } from '../../../platform/mcp-client/index.ts';
import type { ServerInfo, Tool } from '../schemas.ts';
import type { StoredServerInfo } from '../servers/store.ts';

/** A stored tool as every surface shows it. */
export function toTool(tool: McpTool): z.input<typeof Tool> {
  return {
    name: tool.name,
    title: tool.title ?? null,
    description: tool.description ?? null,
    input_schema: asObject(tool.inputSchema),
    output_schema: tool.outputSchema === undefined ? null : asObject(tool.outputSchema),
    annotations: tool.annotations === undefined ? null : asObject(tool.annotations),
  };
}

/** Values from a JSON column are JSON, although the SDK's types say otherwise. */
function asObject(value: object): JsonObject {
  return value as JsonObject;
}

export function toServerInfo(info: StoredServerInfo): z.input<typeof ServerInfo> {
  return {
    name: info.name,
    version: info.version,
    protocol_version: info.protocolVersion,
    transport: info.transport,
    instructions: info.instructions ?? null,
  };
}
