import type { STEP_TYPES } from './descriptions.ts';

/** How a step type is found: other words for it, and the types that often follow it, the likeliest first. */
export type StepFinding = { words: readonly string[]; next: readonly StepTypeName[] };
type StepTypeName = keyof typeof STEP_TYPES;

/** The types with which workflows often begin. */
export const FIRST_STEPS: readonly StepTypeName[] = ['http_request', 'lua_script', 'llm_call'];

/** Pure data: the console reads it in the browser. */
export const STEP_FINDING: Readonly<Record<StepTypeName, StepFinding>> = {
  lua_script: {
    words: ['code', 'function', 'transform', 'javascript'],
    next: ['condition', 'http_request', 'for_each'],
  },
  condition: {
    words: ['if', 'else', 'branch', 'switch', 'filter', 'router'],
    next: ['human_task', 'http_request', 'lua_script'],
  },
  human_task: {
    words: ['approval', 'form', 'review', 'manual', 'person'],
    next: ['condition', 'http_request', 'mcp_call'],
  },
  wait: { words: ['delay', 'sleep', 'timer', 'pause'], next: ['http_request', 'condition'] },
  for_each: { words: ['loop', 'iterate', 'map', 'batch', 'each item'], next: ['lua_script', 'http_request'] },
  call_workflow: { words: ['sub-workflow', 'subflow', 'child'], next: ['condition', 'lua_script'] },
  mcp_call: { words: ['tool', 'integration', 'app', 'connector'], next: ['condition', 'lua_script', 'for_each'] },
  http_request: {
    words: ['api', 'rest', 'fetch', 'curl', 'get', 'post', 'webhook'],
    next: ['condition', 'lua_script', 'for_each'],
  },
  llm_call: {
    words: ['ai', 'model', 'prompt', 'gpt', 'claude', 'chat'],
    next: ['condition', 'human_task', 'lua_script'],
  },
  agent: { words: ['ai', 'assistant', 'tools', 'autonomous'], next: ['human_task', 'condition', 'lua_script'] },
};

/** Returns how a type is found; nothing for a type that this version does not know. */
export const stepFinding = (type: string): StepFinding =>
  (STEP_FINDING as Readonly<Partial<Record<string, StepFinding>>>)[type] ?? { words: [], next: [] };
