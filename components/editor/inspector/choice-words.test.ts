import { expect, test } from 'vitest';
import type { StepType } from '../../../server/orchestrator/ports/step-type.ts';
import { condition } from '../../../server/orchestrator/steps/condition/condition.ts';
import { forEach } from '../../../server/orchestrator/steps/for-each/for-each.ts';
import { httpRequest } from '../../../server/orchestrator/steps/http-request/http-request.ts';
import { humanTask } from '../../../server/orchestrator/steps/human-task/human-task.ts';
import { mcpCall } from '../../../server/orchestrator/steps/mcp-call/mcp-call.ts';
import { type FieldsSchema, fieldsOf } from '../step-fields.ts';
import { choiceOptions } from './choice-words.ts';

const formOf = ({ type, fields, retries }: StepType) => ({
  type,
  schema: fields.toJSONSchema({ io: 'input', unrepresentable: 'any' }) as FieldsSchema,
  retries,
  unavailable: null,
  defaultTimeoutS: null,
});
// Reading the schema needs no workers.
const noWorkers = {} as Parameters<typeof condition>[0];
const types = [condition(noWorkers), forEach(noWorkers), httpRequest(undefined), humanTask, mcpCall(undefined)];
const choices = types.flatMap(type => fieldsOf(formOf(type)).filter(({ kind }) => kind === 'choice'));

test('every choice of a step has a label, and its default is named', () => {
  expect(choices.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['mode', 'on_item_error', 'response', 'on_lost', 'on_timeout']),
  );
  for (const { name, choices: raw, required, hint } of choices) {
    const [usual, ...options] = choiceOptions(name, raw, required);
    expect(usual?.label, name).toMatch(/^Default: ./);
    for (const { value, label } of options) expect(label, name).not.toBe(value);
    // The schema and the labels name the same default.
    const declared = raw.find(choice => hint?.includes(`${choice} (default)`));
    const named = options.find(({ label }) => usual?.label === `Default: ${label}`);
    if (declared !== undefined) expect(named?.value, name).toBe(declared);
  }
});

test('a choice without a label stays as it is', () => {
  expect(choiceOptions('unit', ['m', 'ft'], true)).toEqual([
    { value: 'm', label: 'm' },
    { value: 'ft', label: 'ft' },
  ]);
  expect(choiceOptions('unit', ['m'], false)[0]).toEqual({ value: '', label: 'Default' });
  expect(choiceOptions('on_error', ['fail', 'continue'], false).map(({ label }) => label)).toEqual([
    'Default: The run fails',
    'The run fails',
    'The next steps run',
  ]);
});
