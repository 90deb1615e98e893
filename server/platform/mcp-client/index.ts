export { type ConnectOptions, connectMcp } from './connect.ts';
export { McpFailure } from './failure.ts';
export { SessionPool } from './pool.ts';
export type { CallToolResult, McpCall, McpProgress, McpServerInfo, McpSession, McpTool } from './session.ts';
