import type { ConnectOptions } from './connect.ts';
import type { McpSession } from './session.ts';

export { type CallToolResult, type ContentBlock, readCallResult } from './call-result.ts';
export { McpFailure } from './failure.ts';
export { SessionPool } from './pool.ts';
export type { McpProgress, McpSession } from './session.ts';
export { type McpTool, type ToolList, ToolListReader } from './tool-list.ts';
export type { ConnectOptions };

/** `connectMcp` of `connect.ts`. The first connection loads the SDK: 200 modules, 80 ms of every start. */
export async function connectMcp(options: ConnectOptions): Promise<McpSession> {
  const { connectMcp: connect } = await import('./connect.ts');
  return connect(options);
}
