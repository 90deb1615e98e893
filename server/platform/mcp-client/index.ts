import type { ConnectOptions } from './connect.ts';
import type { McpSession } from './session.ts';

export { McpFailure } from './failure.ts';
export { SessionPool } from './pool.ts';
export type { CallToolResult, McpProgress, McpSession, McpTool } from './session.ts';
export type { ConnectOptions };

/** `connectMcp` of `connect.ts`. The first connection loads the SDK: 200 modules, 80 ms of every start. */
export async function connectMcp(options: ConnectOptions): Promise<McpSession> {
  const { connectMcp: connect } = await import('./connect.ts');
  return connect(options);
}
