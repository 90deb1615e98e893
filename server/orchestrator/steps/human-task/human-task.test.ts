import { describe, expect, test } from 'vitest';
import type { JsonMap } from '../../core/index.ts';
import type { Attempt } from '../../ports/step-type.ts';
import { checkForm, validateForm } from '../form.ts';
import { humanTask } from './human-task.ts';

const run = (fields: JsonMap, input: JsonMap = {}, startedBy?: string) => {
  const attempt: Attempt = {
    run: {
      id: 'r',
      workflowId: 'w',
      version: 1,
      tenantId: 't',
      projectId: 'p',
      ...(startedBy !== undefined && { startedBy }),
    },
    step: { id: 'ask', type: 'human_task', ...fields },
    attempt: 1,
    now: 1_000,
    input,
    result: () => null,
    ancestors: () => new Set(),
    log: () => {},
  };
  return humanTask.execute(attempt, new AbortController().signal);
};

describe('the task', () => {
  test('defaults', async () => {
    expect(await run({})).toEqual({
      kind: 'waiting',
      task: { name: 'ask', instructions: '', form: null, assignees: [], due_at: null, on_timeout: 'fail' },
    });
  });
  test('is rendered: name, instructions, assignees, form', async () => {
    const fields = {
      name: 'Pay {{input.who}}',
      instructions: '# {{input.sum}}',
      assignees: ['{{input.people}}', 'tenant_admin'],
      form: { type: 'object', properties: { pick: { enum: '{{input.choices}}' } } },
      timeout_s: 60,
      on_timeout: 'reject',
    };
    expect(await run(fields, { who: 'Ada', sum: 5, people: ['Ada@x.org', 'b@x.org'], choices: ['a', 'b'] })).toEqual({
      kind: 'waiting',
      task: {
        name: 'Pay Ada',
        instructions: '# 5',
        form: { type: 'object', properties: { pick: { enum: ['a', 'b'] } } },
        assignees: ['ada@x.org', 'b@x.org', 'tenant_admin'],
        due_at: 61_000,
        on_timeout: 'reject',
      },
    });
  });
  test('is assigned to the person for whom the run acts, who is listed once', async () => {
    const assignees = ['run_starter', 'ada@x.org', '{{input.who}}'];
    const runFor = (startedBy?: string) => run({ assignees }, { who: 'run_starter' }, startedBy);
    expect(await runFor('Ada@x.org')).toMatchObject({ task: { assignees: ['ada@x.org'] } });
    expect(await runFor('eve@x.org')).toMatchObject({ task: { assignees: ['eve@x.org', 'ada@x.org'] } });
    for (const none of [undefined, '', 'a service'])
      expect(await runFor(none)).toMatchObject({
        error: { code: 'invalid_step', message: /not started for a person/ },
      });
  });
  test('a task that cannot be created fails the step', async () => {
    expect(await run({ instructions: '{{input.gone}}' })).toMatchObject({
      kind: 'failed',
      error: { code: 'template_unresolved' },
    });
    expect(await run({ assignees: ['{{input.x}}'] }, { x: 5 })).toMatchObject({ error: { code: 'invalid_step' } });
    expect(await run({ form: { properties: { p: { enum: '{{input.x}}' } } } }, { x: 5 })).toMatchObject({
      error: { code: 'invalid_step' },
    });
  });
});

describe('forms', () => {
  const form: JsonMap = {
    type: 'object',
    required: ['amount'],
    additionalProperties: false,
    properties: {
      amount: { type: 'number', minimum: 1 },
      mail: { type: 'string', format: 'email' },
      code: { type: 'string', pattern: '^(a+)+$' },
      tags: { type: 'array', uniqueItems: true, items: { type: 'string' } },
    },
  };
  test('a good form and a good result', () => {
    expect(checkForm(form)).toEqual([]);
    expect(validateForm(form, { amount: 2, mail: 'a@b.org', code: 'aaa', tags: ['x', 'y'] })).toEqual([]);
  });
  test.each([
    [{}, 'result', 'required'],
    [{ amount: 0 }, 'result.amount', 'minimum'],
    [{ amount: 'x' }, 'result.amount', 'type'],
    [{ amount: 1, mail: 'x' }, 'result.mail', 'format'],
    [{ amount: 1, mail: `${'a'.repeat(5000)}@b.org` }, 'result.mail', 'format'],
    [{ amount: 1, code: 'b' }, 'result.code', 'format'],
    [{ amount: 1, tags: ['x', 'x'] }, 'result.tags', 'uniqueItems'],
    [{ amount: 1, tags: ['x', 1] }, 'result.tags[1]', 'type'],
  ])('%j is refused at its place', (result, path, code) => {
    expect(validateForm(form, result as JsonMap)).toContainEqual(expect.objectContaining({ path, code }));
  });
  test('an exponential pattern on a long text ends at once', () => {
    expect(validateForm(form, { amount: 1, code: `${'a'.repeat(50_000)}!` })).toHaveLength(1);
  });
  test('a result too large for its form is refused before the work', () => {
    expect(validateForm(form, { amount: 1, tags: Array.from({ length: 500_000 }, () => 'x') })).toMatchObject([
      { code: 'result_too_large' },
    ]);
  });
  test.each([
    { $ref: '#' },
    { properties: { a: { $ref: 'https://example.org' } } },
    { patternProperties: { '^a': {} } },
    { properties: { a: 1 } },
    { properties: [] },
    { required: 'a' },
    { type: 'array' },
    { minLength: -1 },
    { properties: { a: { pattern: '(?=a)' } } },
  ])('%j is no form', value => expect(checkForm(value as unknown as JsonMap)).not.toEqual([]));
});
