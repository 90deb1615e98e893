/** The groups of the tools of `/mcp`; a deployment turns each group on or off. */
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
  'workflows',
] as const;
export type McpGroup = (typeof MCP_GROUPS)[number];
