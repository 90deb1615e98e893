import { isObject } from '../../platform/json.ts';
import type { JsonMap, JsonValue } from '../core/index.ts';
import type { STEP_TYPES } from './descriptions.ts';

type Step = Readonly<Record<string, unknown>>;

/** The console's preview of a step that has not been executed. */
export type StepPreview = {
  /** The fields that a new step has, so that it can run before anything is typed. */
  starter?: JsonMap;
  /** Returns what the step would do, in its own words: the tool it calls, the address it sends to, the question. */
  deed?: (step: Step) => string;
  /**
   * Returns an example of its result (docs/specification/steps.md), whose keys are what completion offers; absent where the
   * result may be any value. `exampleOf` returns an example of what a JSON Schema describes.
   */
  result?: (step: Step, exampleOf: (schema: unknown) => JsonValue) => JsonValue;
};

/** Pure declarations: the console runs them in the browser. */
const STEP_PREVIEWS: Record<keyof typeof STEP_TYPES, StepPreview> = {
  lua_script: { starter: { script: 'return {}' } },
  condition: { starter: { expression: 'true' }, result: () => ({ value: true, branch: 'then' }) },
  human_task: {
    starter: { instructions: '' },
    deed: ({ instructions, name, id }) => `Asks: ${textOf(instructions) || textOf(name) || textOf(id)}`,
    result: ({ form }, exampleOf) => {
      const fields = exampleOf(form);
      return { ...(isObject(fields) ? fields : {}), approved: true, completed_by: '', completed_at: '' };
    },
  },
  wait: { starter: { seconds: 60 }, deed: () => 'Waits as long as it says', result: () => ({ waited_until: '' }) },
  for_each: {
    starter: { items: '[1, 2, 3]', steps: [{ id: 'each_item', type: 'lua_script', script: 'return item' }] },
    deed: () => 'Does so once for each item of its list',
    result: () => ({ results: [], failed: 0 }),
  },
  call_workflow: {
    deed: () => 'Starts a run of another workflow',
    result: ({ detach }) => (detach === true ? { run_id: '' } : null),
  },
  mcp_call: {
    deed: ({ tool_name, tool_args }) => `Calls the tool ${textOf(tool_name)} with ${JSON.stringify(tool_args ?? {})}`,
  },
  http_request: {
    deed: ({ method, url }) => `Sends ${textOf(method) || 'GET'} ${textOf(url)}`,
    result: ({ pagination }): JsonMap =>
      isObject(pagination)
        ? { status: 200, headers: {}, items: [], pages: 1, more: false }
        : { status: 200, headers: {}, body: null },
  },
  llm_call: {
    result: ({ response_schema }, exampleOf) => {
      const answer = { text: '', model: '', finish_reason: '', usage: USAGE };
      return isObject(response_schema) ? { ...answer, object: exampleOf(response_schema) } : answer;
    },
  },
  agent: {
    deed: () => 'Starts an agent, which may call its tools',
    result: ({ response_schema }, exampleOf) => {
      const answer = { text: '', ended_by: '', complete: true, turns: 0, tool_calls: 0, model: '', usage: USAGE };
      return isObject(response_schema) ? { ...answer, object: exampleOf(response_schema) } : answer;
    },
  },
};

const USAGE = { input_tokens: 0, output_tokens: 0 };
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
const byName: ReadonlyMap<string, StepPreview> = new Map(Object.entries(STEP_PREVIEWS));

/** Returns what the console shows of steps of a type; nothing for a name that no type of this version has. */
export const stepPreview = (type: string): StepPreview => byName.get(type) ?? {};
