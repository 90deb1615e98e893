import type { StepTypes } from '../../contract/step-type.ts';
import { condition } from './condition.ts';
import { humanTask } from './human-task.ts';
import { llmCall } from './llm-call.ts';
import type { LuaPool } from './lua/index.ts';
import { luaScript } from './lua-script.ts';
import { mcpCall } from './mcp-call.ts';
import type { ModelCaller } from './model-caller.ts';
import type { ToolCaller } from './tool-caller.ts';

/** Returns all step types. ARCHITECTURE.md ("A new step type") lists what a new one touches. The caller closes the pool. */
export function createStepTypes(services: { luaPool: LuaPool; tools?: ToolCaller; models?: ModelCaller }): StepTypes {
  const { luaPool, tools, models } = services;
  const types = [luaScript(luaPool), condition(luaPool), humanTask, mcpCall(tools), llmCall(models)];
  return new Map(types.map(type => [type.type, type]));
}
