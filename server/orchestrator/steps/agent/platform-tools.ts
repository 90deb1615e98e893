import type { JsonMap } from '../../core/index.ts';
import type { Attempt } from '../../ports/step-type.ts';
import type { ToolAnswer } from '../mcp-call/tool-caller.ts';
import type { OfferedTool } from './tools.ts';

/** Stands in a planned tool in place of the id of an MCP instance: the tool is an operation of this service. */
export const PLATFORM = 'platform';
/** The name that people see as the source of such a tool. */
export const PLATFORM_NAME = 'Baton';

/** The port of agents to the service's own operations; the API implements it. Operations that return secrets are not among them. */
export type PlatformTools = {
  /** Returns those of the names that are no operations an agent may have. */
  unknown(names: readonly string[]): string[];
  /** Returns the operations of these names that the person for whom the run acts may call now. */
  offer(run: Attempt['run'], names: readonly string[], signal: AbortSignal): Promise<OfferedTool[]>;
  /** Calls an operation with the rights that the person for whom the run acts has now. */
  call(call: PlatformCall, signal: AbortSignal): Promise<ToolAnswer>;
};

/** `step`: the call's own step. */
export type PlatformCall = { run: Attempt['run']; step: string; operation: string; args: JsonMap };
