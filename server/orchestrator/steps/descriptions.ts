import type { StepTypeDescription } from '../ports/step-type.ts';
import { added as addedByAgents, description as agent } from './agent/description.ts';
import { description as callWorkflow } from './call-workflow/description.ts';
import { description as condition } from './condition/description.ts';
import { description as forEach } from './for-each/description.ts';
import { description as httpRequest } from './http-request/description.ts';
import { description as humanTask } from './human-task/description.ts';
import { description as llmCall } from './llm-call/description.ts';
import { description as luaScript } from './lua-script/description.ts';
import { description as mcpCall } from './mcp-call/description.ts';
import { description as memoryExtract } from './memory-extract/description.ts';
import { description as standIn } from './stand-in/description.ts';
import { description as wait } from './wait/description.ts';

/**
 * The facts about each step type that the rest of the product needs, apart from its execution. Pure data: the console
 * reads it in the browser. Lists of types use this order.
 */
export const STEP_TYPES = {
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
} as const satisfies Record<string, StepTypeDescription>;

/**
 * The types that no draft can have: those of the steps that agents add to their runs, of stand-ins in trials, and of
 * the service's own workflows.
 */
export const ADDED_STEP_TYPES = {
  ...addedByAgents,
  stand_in: standIn,
  memory_extract: memoryExtract,
} as const satisfies Record<string, StepTypeDescription>;

/** The name of a type that drafts can have. */
export type StepTypeName = keyof typeof STEP_TYPES;

const byName: ReadonlyMap<string, StepTypeDescription> = new Map(
  Object.entries({ ...STEP_TYPES, ...ADDED_STEP_TYPES }),
);

/** Returns the description of a step type; undefined if this version has no such type. */
export const stepTypeDescription = (type: string): StepTypeDescription | undefined => byName.get(type);
