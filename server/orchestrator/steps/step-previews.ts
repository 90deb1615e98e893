import type { StepPreview } from '../ports/step-declarations.ts';
import { added as addedByAgents, preview as agent } from './agent/preview.ts';
import { preview as callWorkflow } from './call-workflow/preview.ts';
import { preview as condition } from './condition/preview.ts';
import type { StepTypeName } from './descriptions.ts';
import { preview as forEach } from './for-each/preview.ts';
import { preview as httpRequest } from './http-request/preview.ts';
import { preview as humanTask } from './human-task/preview.ts';
import { preview as llmCall } from './llm-call/preview.ts';
import { preview as luaScript } from './lua-script/preview.ts';
import { preview as mcpCall } from './mcp-call/preview.ts';
import { preview as memoryExtract } from './memory-extract/preview.ts';
import { preview as standIn } from './stand-in/preview.ts';
import { preview as wait } from './wait/preview.ts';

/** Pure declarations: the console runs them in the browser. */
const STEP_PREVIEWS: Readonly<Record<StepTypeName, StepPreview>> = {
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
const added = { ...addedByAgents, memory_extract: memoryExtract, stand_in: standIn };

const byName: ReadonlyMap<string, StepPreview> = new Map(Object.entries({ ...STEP_PREVIEWS, ...added }));

/** Returns what the console shows of steps of a type; empty for an unknown type. */
export const stepPreview = (type: string): StepPreview => byName.get(type) ?? {};
