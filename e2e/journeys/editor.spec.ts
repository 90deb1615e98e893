import type { Locator, Page } from '@playwright/test';
import { expect, expectAccessible, expectPagesAccessible, open, signIn, test } from '../fixtures/console.ts';
import { replaceText } from '../fixtures/editor.ts';

const canvasOf = (page: Page) => page.getByRole('region', { name: 'Graph of the draft' });
const stepOf = (page: Page, id: string) => canvasOf(page).locator(`[data-step="${id}"]`);
const formOf = (page: Page) => page.getByRole('region', { name: 'Step and JSON' });

const script = 'return {amount = input.amount or 250}';
const expression = 'steps.order.result.amount > 100';
/** What both journeys below build. */
const built = {
  latest_version: 1,
  graph: {
    steps: [
      { id: 'order', type: 'lua_script', name: 'Read the order', script },
      { id: 'condition', type: 'condition', expression, depends_on: ['order'], then: ['review'], else: ['accept'] },
      { id: 'accept', type: 'lua_script', script: 'return {accepted = true}', depends_on: ['condition'] },
      { id: 'review', type: 'human_task', name: 'Review the order', depends_on: ['condition'] },
    ],
  },
};

function inOrderOfIds({ graph, ...rest }: Record<string, unknown>) {
  const { steps } = graph as { steps: { id: string }[] };
  return { ...rest, graph: { steps: [...steps].sort((a, b) => (a.id < b.id ? -1 : 1)) } };
}
const expected = () => {
  const { steps } = built.graph;
  return { ...built, graph: { steps: [...steps].sort((a, b) => (a.id < b.id ? -1 : 1)) } };
};

/** Presses a key until the element has the focus. */
async function pressUntilFocused(page: Page, key: string, target: Locator): Promise<void> {
  for (let presses = 0; presses < 80; presses += 1) {
    if (await target.evaluate(element => element === document.activeElement)) return;
    await page.keyboard.press(key);
  }
  throw new Error(`${key} does not lead to ${target}.`);
}

async function runAndWait(page: Page): Promise<void> {
  await expect(page).toHaveURL(/\/runs\//);
  await expect(page.getByRole('heading', { level: 1 })).toContainText('Waiting for a person');
  await expect(page.locator('[data-step="accept"]')).toHaveAttribute('data-status', 'skipped');
}

test('a workflow is built, published and run with the mouse', async ({ member, api }) => {
  await open(member, '/workflows');
  await member.getByRole('button', { name: 'Create workflow' }).first().click();
  const dialog = member.getByRole('dialog', { name: 'Create workflow' });
  await dialog.getByLabel('Name').fill('By mouse');
  await dialog.getByRole('button', { name: 'Create' }).click();
  const canvas = canvasOf(member);
  const form = formOf(member);

  await canvas.getByRole('button', { name: 'Add the first step' }).click();
  await expectAccessible(member);
  await member.getByRole('option', { name: /Lua script/ }).click();
  await form.getByLabel('Name').fill('Read the order');
  await form.getByLabel('ID', { exact: true }).fill('order');
  await replaceText(form.getByRole('textbox', { name: 'Script' }), script);
  await expect(stepOf(member, 'order')).toContainText('Read the order');

  await canvas.getByRole('button', { name: 'Add a step after Read the order' }).click();
  await member.getByRole('option', { name: /Condition/ }).click();
  await replaceText(form.getByRole('textbox', { name: 'Expression' }), expression);
  await canvas.getByRole('button', { name: 'Add a step after condition, then' }).click();
  await member.getByRole('option', { name: /Human task/ }).click();
  await form.getByLabel('Name').fill('Review the order');
  await form.getByLabel('ID', { exact: true }).fill('review');
  await stepOf(member, 'condition').click();
  await canvas.getByRole('button', { name: 'Add a step after condition, else' }).click();
  await member.getByRole('option', { name: /Lua script/ }).click();
  await replaceText(form.getByRole('textbox', { name: 'Script' }), 'return {accepted = true}');
  await form.getByLabel('ID', { exact: true }).fill('accept');
  await form.getByLabel('Name').focus();
  await expect(stepOf(member, 'accept')).toBeVisible();
  await expectAccessible(member);

  await expect(member.getByRole('region', { name: 'Problems' })).toContainText('can be published');
  await member.getByRole('button', { name: 'Publish' }).click();
  await member.getByRole('dialog').getByRole('button', { name: 'Publish' }).click();
  await expect(member.getByText('Version 1 is published')).toBeVisible();
  const id = /workflows\/([^/?]+)/.exec(member.url())?.[1];
  expect(inOrderOfIds(await api.call('GET', `/v1/workflows/${id}`))).toMatchObject(expected());
  await member.getByRole('button', { name: 'Run', exact: true }).click();
  await member.getByRole('button', { name: 'Start run' }).click();
  await runAndWait(member);
});

test('a workflow is built, published and run with the keyboard alone', async ({ member, api }) => {
  const { keyboard } = member;
  const type = async (text: string) => {
    await keyboard.press('ControlOrMeta+a');
    await keyboard.insertText(text);
  };
  const addStep = async (kind: string) => {
    await keyboard.press('Tab');
    await expect(member.getByRole('dialog', { name: 'Add a step' })).toBeVisible();
    await keyboard.type(kind);
    await keyboard.press('Enter');
    await expect(member.getByRole('dialog')).toHaveCount(0);
  };
  const focused = (id: string) => expect(canvasOf(member).locator(`.react-flow__node[data-id="${id}"]`)).toBeFocused();
  const form = formOf(member);
  const field = (name: string) => form.getByRole('textbox', { name, exact: true });

  await open(member, '/workflows');
  await pressUntilFocused(member, 'Tab', member.getByRole('button', { name: 'Create workflow' }).first());
  await keyboard.press('Enter');
  await expect(member.getByRole('dialog', { name: 'Create workflow' }).getByLabel('Name')).toBeFocused();
  await keyboard.type('By keyboard');
  await keyboard.press('Enter');
  await expect(canvasOf(member)).toBeFocused();

  await addStep('lua');
  await focused('lua_script');
  await keyboard.press('Enter');
  await expect(form.getByLabel('Name')).toBeFocused();
  await keyboard.type('Read the order');
  await keyboard.press('Tab');
  await type('order');
  await pressUntilFocused(member, 'Tab', field('Script'));
  await type(script);
  await keyboard.press('Escape');
  await focused('order');

  await addStep('cond');
  await focused('condition');
  await keyboard.press('Enter');
  await pressUntilFocused(member, 'Tab', field('Expression'));
  await type(expression);
  await keyboard.press('Escape');
  await focused('condition');

  await addStep('human');
  await keyboard.press('Enter');
  await expect(form.getByLabel('Name')).toBeFocused();
  await keyboard.type('Review the order');
  await keyboard.press('Tab');
  await type('review');
  await keyboard.press('Enter');
  await expect(stepOf(member, 'review')).toBeVisible();
  await expect(form.getByLabel('ID', { exact: true })).toBeFocused();
  await keyboard.press('Escape');
  await focused('review');
  await keyboard.press('ArrowUp');
  await focused('condition');
  await addStep('lua');
  await keyboard.press('Enter');
  await expect(form.getByLabel('Name')).toBeFocused();
  await keyboard.press('Tab');
  await type('accept');
  await pressUntilFocused(member, 'Tab', field('Script'));
  await type('return {accepted = true}');
  await keyboard.press('Escape');
  await focused('accept');

  await expect(member.getByRole('region', { name: 'Problems' })).toContainText('can be published');
  await keyboard.press('Escape');
  await pressUntilFocused(member, 'Shift+Tab', member.getByRole('button', { name: 'Publish' }));
  await keyboard.press('Enter');
  const dialog = member.getByRole('dialog', { name: 'Publish version 1' });
  await pressUntilFocused(member, 'Tab', dialog.getByRole('button', { name: 'Publish' }));
  await keyboard.press('Enter');
  await expect(member.getByText('Version 1 is published')).toBeVisible();
  const id = /workflows\/([^/?]+)/.exec(member.url())?.[1];
  expect(inOrderOfIds(await api.call('GET', `/v1/workflows/${id}`))).toMatchObject(expected());
  await pressUntilFocused(member, 'Tab', member.getByRole('button', { name: 'Run', exact: true }));
  await keyboard.press('Enter');
  await pressUntilFocused(member, 'Tab', member.getByRole('button', { name: 'Start run' }));
  await keyboard.press('Enter');
  await runAndWait(member);
});

const lua = (id: string, ...depends_on: string[]) => ({
  id,
  type: 'lua_script',
  script: 'return 1',
  ...(depends_on.length > 0 ? { depends_on } : {}),
});

test('a step is renamed with what refers to it, and says which Lua it could not change', async ({ member, api }) => {
  const steps = [
    lua('first'),
    { id: 'check', type: 'condition', expression: 'steps.first.result == 1', depends_on: ['first'] },
    { ...lua('last', 'check'), script: 'return steps.first.result' },
  ];
  const { id } = await api.call('POST', '/v1/workflows', { name: 'Rename', graph: { steps } });
  await member.goto(`/workflows/${String(id)}?step=first`);
  const field = formOf(member).getByLabel('ID', { exact: true });
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

test('unfinished JSON survives leaving the page, and a field says what is wrong in place', async ({ member, api }) => {
  const steps = [lua('a'), { id: 'ask', type: 'human_task', depends_on: ['a'] }];
  const { id } = await api.call('POST', '/v1/workflows', { name: 'Unfinished', graph: { steps } });
  const page = `/workflows/${String(id)}`;
  await member.goto(`${page}?step=ask`);
  const form = formOf(member);
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

test('the editor is accessible, in light and dark @phone', async ({ page, server, api }) => {
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
