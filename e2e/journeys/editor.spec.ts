import { expect, expectPagesAccessible, signIn, test } from '../fixtures/console.ts';
import { replaceText } from '../fixtures/editor.ts';

import { formOf, openMore, stepIdOf } from '../fixtures/whole-job.ts';

const lua = (id: string, ...depends_on: string[]) => ({
  id,
  type: 'lua_script',
  script: 'return 1',
  ...(depends_on.length > 0 ? { depends_on } : {}),
});

test('renaming a step updates its references, and lists the Lua code that it could not change', async ({
  member,
  api,
}) => {
  const steps = [
    lua('first'),
    { id: 'check', type: 'condition', expression: 'steps.first.result == 1', depends_on: ['first'] },
    { ...lua('last', 'check'), script: 'return steps.first.result' },
  ];
  const { id } = await api.call('POST', '/v1/workflows', { name: 'Rename', graph: { steps } });
  await member.goto(`/workflows/${String(id)}?step=first`);
  await openMore(member);
  const field = stepIdOf(member);
  await field.fill('check');
  await field.press('Enter');
  await expect(member.getByText('There is a step "check" already.')).toBeVisible();
  await field.fill('start');
  await field.press('Enter');
  await expect(member.getByText('last, script, line 1')).toBeVisible();
  await expect
    .poll(async () => JSON.stringify((await api.call('GET', `/v1/workflows/${String(id)}`)).graph))
    .toContain('steps.start.result == 1');
});

test('unfinished JSON survives leaving the page, and a field shows its errors', async ({ member, api }) => {
  const steps = [lua('a'), { id: 'ask', type: 'human_task', depends_on: ['a'] }];
  const { id } = await api.call('POST', '/v1/workflows', { name: 'Unfinished', graph: { steps } });
  const page = `/workflows/${String(id)}`;
  await member.goto(`${page}?step=ask`);
  const form = formOf(member);
  await form.getByRole('checkbox', { name: 'Edit as JSON' }).check();
  await replaceText(form.getByRole('textbox', { name: 'Form' }), '{"type": "object", ');
  await expect(form.getByText(/^Not saved yet/)).toBeVisible();
  await member.goto('/inbox');
  await member.goto(`${page}?step=ask`);
  await expect(form.getByRole('textbox', { name: 'Form' })).toContainText('{"type": "object", ');
  await replaceText(form.getByRole('textbox', { name: 'Form' }), '{"type": "string"}');
  await expect(form.getByText(/^Not saved yet/)).toHaveCount(0);
  await expect(form.getByRole('alert')).toContainText('object');

  await member.goto(`${page}?step=a`);
  await replaceText(form.getByRole('textbox', { name: 'Script' }), 'return (');
  await expect(form.getByRole('alert')).toBeVisible();
});

test('the editor is accessible in both themes @phone', async ({ page, server, api }) => {
  const empty = await api.call('POST', '/v1/workflows', { name: 'Empty', graph: { steps: [] } });
  const steps = [
    lua('a'),
    { id: 'check', type: 'condition', expression: 'true', depends_on: ['a'], then: ['ask'] },
    { id: 'ask', type: 'human_task', depends_on: ['check'] },
    { id: 'call', type: 'mcp_call', depends_on: ['ask'] },
    { id: 'model', type: 'llm_call', depends_on: ['ask'] },
  ];
  const full = await api.call('POST', '/v1/workflows', { name: 'All types', graph: { steps } });
  await signIn(page, server.email, server.password);
  await expectPagesAccessible(page, [
    `/workflows/${String(empty.id)}`,
    ...['check', 'ask', 'call', 'model'].map(step => `/workflows/${String(full.id)}?step=${step}`),
  ]);
});
