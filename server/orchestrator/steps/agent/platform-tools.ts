import type { JsonMap } from '../../core/index.ts';
import type { Attempt } from '../../ports/step-type.ts';
import type { ToolAnswer } from '../mcp-call/tool-caller.ts';
import type { OfferedTool } from './tools.ts';

/** The `instance_id` of a planned tool that is an operation of this service. */
export const PLATFORM = 'platform';
/** The name that people see as the source of operations. */
export const PLATFORM_NAME = 'Baton';

/** The port of agents to operations of this service; the API implements it. Operations that return secrets are excluded. */
export type PlatformTools = {
  /** Returns the names that are no operations for agents. */
  unknown(names: readonly string[]): string[];
  /** Returns the operations with these names that the user of the run may call now. */
  offer(run: Attempt['run'], names: readonly string[], signal: AbortSignal): Promise<OfferedTool[]>;
  /** Calls an operation with the current rights of the user of the run. */
  call(call: PlatformCall, signal: AbortSignal): Promise<ToolAnswer>;
};

/** A call of an operation. `step`: the step of the call. */
export type PlatformCall = { run: Attempt['run']; step: string; operation: string; args: JsonMap };
