/** The groups that tools of `/mcp` come in; a deployment turns each on or off. */
export const MCP_GROUPS = [
  'core',
  'catalog',
  'memory',
  'chat',
  'files',
  'websocket',
  'vault',
  'pat',
  'inbound',
  'llm_keys',
] as const;
export type McpGroup = (typeof MCP_GROUPS)[number];
