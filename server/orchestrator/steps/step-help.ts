import type { StepHelp } from '../ports/step-declarations.ts';
import { help as agent } from './agent/help.ts';
import { help as callWorkflow } from './call-workflow/help.ts';
import { help as condition } from './condition/help.ts';
import type { StepTypeName } from './descriptions.ts';
import { help as forEach } from './for-each/help.ts';
import { help as httpRequest } from './http-request/help.ts';
import { help as humanTask } from './human-task/help.ts';
import { help as llmCall } from './llm-call/help.ts';
import { help as luaScript } from './lua-script/help.ts';
import { help as mcpCall } from './mcp-call/help.ts';
import { help as wait } from './wait/help.ts';

/** Pure data: the console reads it in the browser. */
export const STEP_HELP: Readonly<Record<StepTypeName, StepHelp>> = {
  lua_script: luaScript,
  condition,
  human_task: humanTask,
  wait,
  for_each: forEach,
  call_workflow: callWorkflow,
  mcp_call: mcpCall,
  http_request: httpRequest,
  llm_call: llmCall,
  agent,
};
