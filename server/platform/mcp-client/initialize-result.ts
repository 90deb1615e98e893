import type { InitializeResult } from '@modelcontextprotocol/sdk/types.js';
import { isObject, type Json } from '../json.ts';

/** The protocol version of a server that does not name one (MCP 2025-11-25, Transports, Protocol Version Header). */
const UNNAMED_VERSION = '2025-03-26';

/**
 * Returns a server's answer to `initialize` in the form that the SDK accepts; null if it is not an answer. Only members that are
 * used are read, so that no other member can be invalid.
 */
export function initializeResult(result: Json): InitializeResult | null {
  if (!isObject(result)) return null;
  const { protocolVersion, capabilities, serverInfo, instructions } = result;
  const { name, version } = isObject(serverInfo) ? serverInfo : {};
  const tools = isObject(capabilities) ? capabilities.tools : undefined;
  return {
    protocolVersion: typeof protocolVersion === 'string' ? protocolVersion : UNNAMED_VERSION,
    capabilities: tools === undefined || tools === null || tools === false ? {} : { tools: {} },
    serverInfo: { name: textOf(name) ?? 'unknown', version: textOf(version) ?? '' },
    ...(typeof instructions === 'string' ? { instructions } : {}),
  };
}

/** Some servers give their version as a number. */
function textOf(value: Json | undefined): string | undefined {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && value !== '' ? value : undefined;
}
