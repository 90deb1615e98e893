import { expect, test } from 'vitest';
import type { StepType } from '../../../server/orchestrator/ports/step-type.ts';
import { agent } from '../../../server/orchestrator/steps/agent/agent.ts';
import { callWorkflow } from '../../../server/orchestrator/steps/call-workflow/call-workflow.ts';
import { forEach } from '../../../server/orchestrator/steps/for-each/for-each.ts';
import { llmCall } from '../../../server/orchestrator/steps/llm-call/llm-call.ts';
import { mcpCall } from '../../../server/orchestrator/steps/mcp-call/mcp-call.ts';
import { type FieldsSchema, fieldsOf } from '../step-fields.ts';
import { formOf } from './step-settings.ts';

const declared = ({ type, fields, retries }: StepType) => ({
  type,
  schema: fields.toJSONSchema({ io: 'input', unrepresentable: 'any' }) as FieldsSchema,
  retries,
  unavailable: null,
  defaultTimeoutS: 60,
});
// Reading the schema needs no workers.
const loop = forEach({} as Parameters<typeof forEach>[0]);
const types = [loop, callWorkflow(undefined), mcpCall(undefined), llmCall(undefined), agent({})];
const formIn = (type: StepType, step = {}, inLoop = false) =>
  formOf({ id: 'a', type: type.type, ...step }, declared(type), { inLoop, hasOwnForm: false });
const names = (fields: readonly { name: string }[]) => fields.map(({ name }) => name);

test('essential fields come first, and no field is missing or shown twice', () => {
  for (const type of types) {
    const { fields, more } = formIn(type);
    expect(fields.length, type.type).toBeGreaterThan(1);
    const all = names([...fields, ...more]);
    expect(new Set(all).size, type.type).toBe(all.length);
    expect(all, type.type).toEqual(expect.arrayContaining(names(fieldsOf(declared(type)))));
    // Required fields are never collapsed.
    expect(names(more.filter(({ required }) => required)), type.type).toEqual([]);
  }
  expect(names(formIn(llmCall(undefined)).fields)).toEqual(['model', 'prompt', 'system', 'response_schema']);
});

test('a named agent has its own settings', () => {
  const { fields, more } = formIn(agent({}), { agent_id: 'x', temperature: 1 });
  expect(names(fields)).toEqual(['agent_id', 'prompt']);
  expect(names(more)).toEqual(expect.arrayContaining(['limits', 'temperature']));
  expect(names(more)).not.toContain('model');
});

test('a step in a loop has no settings for the start of a run', () => {
  expect(names(formIn(llmCall(undefined)).more)).toEqual(expect.arrayContaining(['on_error', 'gated', 'overridable']));
  expect(names(formIn(llmCall(undefined), {}, true).more)).not.toContain('gated');
});

test('fields that no type declares are shown as JSON', () => {
  const options = { inLoop: false, hasOwnForm: false };
  const { fields } = formOf({ id: 'a', type: 'unknown', depends_on: [], x: 1, timeout_s: 5 }, undefined, options);
  expect(names(fields)).toEqual(['x']);
});
