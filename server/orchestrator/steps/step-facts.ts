import type { StepFacts } from '../ports/step-declarations.ts';
import { facts as agent } from './agent/facts.ts';
import { facts as callWorkflow } from './call-workflow/facts.ts';
import { facts as condition } from './condition/facts.ts';
import type { StepTypeName } from './descriptions.ts';
import { facts as forEach } from './for-each/facts.ts';
import { facts as httpRequest } from './http-request/facts.ts';
import { facts as humanTask } from './human-task/facts.ts';
import { facts as llmCall } from './llm-call/facts.ts';
import { facts as luaScript } from './lua-script/facts.ts';
import { facts as mcpCall } from './mcp-call/facts.ts';
import { facts as memoryExtract } from './memory-extract/facts.ts';
import { facts as wait } from './wait/facts.ts';

/** The facts about each step type that only the server needs. Pure data, in the order of the descriptions. */
export const STEP_FACTS: Readonly<Record<StepTypeName, StepFacts>> = {
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

/** The facts of each type that no draft can have and that has its own facts. */
const added = { memory_extract: memoryExtract };

type AnyFacts = Omit<StepFacts, 'guide'>;
const byName: ReadonlyMap<string, AnyFacts> = new Map<string, AnyFacts>(Object.entries({ ...STEP_FACTS, ...added }));

/** Returns the facts about a step type; undefined for a name that no type of this version has. */
export const stepFacts = (type: string): AnyFacts | undefined => byName.get(type);

/** Returns the names of the types with these facts. */
export const typesWith = (has: (facts: AnyFacts) => boolean): string[] =>
  [...byName].flatMap(([type, facts]) => (has(facts) ? [type] : []));
