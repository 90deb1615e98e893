import { describe, expect, test } from 'vitest';
import type { StepType } from '../../server/orchestrator/ports/step-type.ts';
import { callWorkflow } from '../../server/orchestrator/steps/call-workflow/call-workflow.ts';
import { condition } from '../../server/orchestrator/steps/condition/condition.ts';
import { humanTask } from '../../server/orchestrator/steps/human-task/human-task.ts';
import { llmCall } from '../../server/orchestrator/steps/llm-call/llm-call.ts';
import { type FieldKind, type FieldsSchema, fieldsOf, fieldText, labelOf, readFieldText } from './step-fields.ts';

const formOf = ({ type, fields, retries }: StepType) => ({
  type,
  schema: fields.toJSONSchema({ io: 'input', unrepresentable: 'any' }) as FieldsSchema,
  retries,
  unavailable: null,
  defaultTimeoutS: null,
});
const kinds = (type: StepType) => Object.fromEntries(fieldsOf(formOf(type)).map(({ name, kind }) => [name, kind]));

describe('the form of a step', () => {
  test('follows the schema that the server checks with', () => {
    expect(kinds(humanTask)).toEqual({ instructions: 'long', form: 'json', assignees: 'list', on_timeout: 'choice' });
    expect(kinds(llmCall(undefined))).toMatchObject({
      model: 'model',
      prompt: 'long',
      temperature: 'number',
      response_schema: 'schema',
    });
    expect(kinds(callWorkflow(undefined))).toEqual({
      workflow_id: 'workflow',
      version: 'version',
      input: 'input',
      detach: 'flag',
    });
    const [first] = fieldsOf(formOf(llmCall(undefined)));
    expect(first).toMatchObject({ required: true });
    const onTimeout = fieldsOf(formOf(humanTask)).find(({ name }) => name === 'on_timeout');
    expect(onTimeout).toMatchObject({ choices: ['fail', 'approve', 'reject'], required: false, label: 'On timeout' });
  });

  test('leaves connections to their own editor', () => {
    // Reading the schema needs no workers.
    const fields = kinds(condition({} as Parameters<typeof condition>[0]));
    expect(fields).toEqual({ expression: 'cel', mode: 'choice', message: 'long' });
  });

  test('labels fields in words', () => {
    expect(labelOf('retry_delay_s')).toBe('Retry delay (s)');
    expect(labelOf('instance_id')).toBe('MCP instance');
    expect(labelOf('on_lost')).toBe('If the outcome is unknown');
    expect(labelOf('gated')).toBe('Only when started by name');
    expect(labelOf('overridable')).toBe('Can be changed at start');
    expect(labelOf('constructor')).toBe('Constructor');
    expect(labelOf('url')).toBe('URL');
  });
});

describe('text typed into a field', () => {
  const read = (kind: FieldKind, text: string, integer = false) => readFieldText({ kind, integer }, text);

  test('becomes a value or a problem', () => {
    expect(read('number', '1.5')).toEqual({ value: 1.5 });
    expect(read('number', '1.5', true)).toEqual({ problem: 'Enter a whole number.' });
    expect(read('number', 'x')).toEqual({ problem: 'Enter a number.' });
    expect(read('list', ' a \n\nb')).toEqual({ value: ['a', 'b'] });
    expect(read('json', '{"a": 1}')).toEqual({ value: { a: 1 } });
    expect(read('json', '{"a"')).toHaveProperty('problem');
    expect(read('json', ' ')).toEqual({ value: undefined });
  });

  test('is shown again as it was typed', () => {
    expect(fieldText('list', ['a', 'b'])).toBe('a\nb');
    expect(fieldText('number', 3)).toBe('3');
    expect(fieldText('json', undefined)).toBe('');
    expect(read('json', fieldText('json', { a: [1] }))).toEqual({ value: { a: [1] } });
  });
});
