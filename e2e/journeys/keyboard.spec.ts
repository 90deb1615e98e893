import type { Locator, Page } from '@playwright/test';
import { expect, open, test } from '../fixtures/console.ts';

/** A server of its own, so that the workspace is empty. */
test.use({ serverEnv: { BATON_LOG_LEVEL: 'error' } });

/** Presses a key until the element, which is visible, has the focus. */
async function pressUntilFocused(page: Page, key: string, target: Locator): Promise<void> {
  await expect(target).toBeVisible();
  for (let presses = 0; presses < 120; presses += 1) {
    if (await target.evaluate(element => element === document.activeElement)) return;
    await page.keyboard.press(key);
  }
  throw new Error(`${key} does not lead to ${target}.`);
}

async function press(page: Page, target: Locator, key = 'Tab'): Promise<void> {
  await expect(target).toBeEnabled();
  await pressUntilFocused(page, key, target);
  await page.keyboard.press('Enter');
}

async function replace(page: Page, field: Locator, text: string): Promise<void> {
  await expect(field).toBeFocused();
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.insertText(text);
}

const canvasOf = (page: Page) => page.getByRole('region', { name: 'Graph of the draft' });
const formOf = (page: Page) => page.getByRole('region', { name: 'Step and JSON' });
const titleOf = (page: Page) => page.getByRole('heading', { level: 1 });

async function addStep(page: Page, kind: string, id: string): Promise<void> {
  await page.keyboard.press('Tab');
  const palette = page.getByRole('dialog', { name: 'Add a step' });
  await expect(palette.getByRole('combobox')).toBeFocused();
  await page.keyboard.type(kind);
  await expect(palette.getByRole('option')).toHaveCount(1);
  await page.keyboard.press('Enter');
  await expect(palette).toHaveCount(0);
  await expect(canvasOf(page).locator(`.react-flow__node[data-id="${id}"]`)).toBeFocused();
}

test('the keyboard alone leads from an empty workspace to a finished run', async ({ member }) => {
  const { keyboard } = member;
  await open(member, '/workflows');
  await expect(member.getByText('No workflows yet')).toBeVisible();
  await press(member, member.getByRole('button', { name: 'Create workflow' }).last());
  await expect(member.getByRole('dialog', { name: 'Create workflow' }).getByLabel('Name')).toBeFocused();
  await keyboard.type('By keyboard');
  await keyboard.press('Enter');
  await expect(canvasOf(member)).toBeFocused();

  const form = formOf(member);
  await addStep(member, 'lua', 'lua_script');
  await keyboard.press('Enter');
  await expect(form.getByLabel('Name')).toBeFocused();
  const script = form.getByRole('textbox', { name: 'Script', exact: true });
  await pressUntilFocused(member, 'Tab', script);
  await replace(member, script, 'return {total = 7}');
  await keyboard.press('Escape');
  await expect(canvasOf(member).locator('.react-flow__node[data-id="lua_script"]')).toBeFocused();
  await addStep(member, 'human', 'human_task');

  await expect(member.getByRole('region', { name: 'Problems' })).toContainText('can be published');
  await keyboard.press('Escape');
  await press(member, member.getByRole('button', { name: 'Publish' }), 'Shift+Tab');
  const publishing = member.getByRole('dialog', { name: 'Publish version 1' });
  await press(member, publishing.getByRole('button', { name: 'Publish' }));
  await expect(member.getByText('Version 1 is published')).toBeVisible();
  await expect(publishing).toHaveCount(0);
  await press(member, member.getByRole('button', { name: 'Run', exact: true }));
  await press(member, member.getByRole('button', { name: 'Start run' }));
  await expect(titleOf(member)).toContainText('Waiting for a person');

  const { pathname } = new URL(member.url());
  await press(
    member,
    member.getByRole('region', { name: 'Steps' }).getByRole('button', { name: /^human_task|^Human/ }),
  );
  await press(member, member.getByRole('link', { name: 'Answer in the inbox' }));
  await press(member, member.getByRole('button', { name: 'Approve' }));
  await expect(member.getByText(/^Approved “/)).toBeVisible();
  await open(member, pathname);
  await expect(titleOf(member)).toContainText('Completed');
});

test('a failed run is mended and finished with the keyboard alone', async ({ member, api }) => {
  const { keyboard } = member;
  const steps = [
    { id: 'first', type: 'lua_script', script: 'return 6' },
    { id: 'second', type: 'lua_script', script: 'error("no")', depends_on: ['first'] },
  ];
  const { id } = await api.call('POST', '/v1/workflows', { name: 'To mend', graph: { steps } });
  await api.call('POST', `/v1/workflows/${String(id)}/versions`, { changelog: 'First' });
  const params = { command: 'start', params: {} };
  const { run_id } = await api.call('POST', `/v1/workflows/${String(id)}/command`, params);
  const path = `/workflows/${String(id)}/runs/${String(run_id)}`;
  await expect.poll(async () => (await api.call('GET', `/v1${path}/summary`)).status).toBe('failed');

  await open(member, path);
  await expect(titleOf(member)).toContainText('Failed');
  await press(member, member.getByRole('link', { name: 'Edit and run again from here' }));
  const banner = member.getByRole('region', { name: 'Continue a run' });
  await expect(banner).toContainText('Edit second');
  const form = formOf(member);
  await expect(canvasOf(member).locator('[data-step="second"]')).toBeVisible();
  await pressUntilFocused(member, 'Tab', canvasOf(member));
  await keyboard.press('Enter');
  await expect(form.getByLabel('Name')).toBeFocused();
  const script = form.getByRole('textbox', { name: 'Script', exact: true });
  await pressUntilFocused(member, 'Tab', script);
  await replace(member, script, 'return steps.first.result * 7');
  await keyboard.press('Escape');
  await expect(canvasOf(member).locator('.react-flow__node[data-id="second"]')).toBeFocused();
  await press(member, banner.getByRole('button', { name: 'Run again from here' }), 'Shift+Tab');
  await expect(member).not.toHaveURL(/continue=/);
  await expect(titleOf(member)).toContainText('Completed');
  expect(new URL(member.url()).pathname).not.toBe(path);
  const output = member.getByRole('tab', { name: 'Output' });
  const selected = member.getByRole('tab', { selected: true });
  await pressUntilFocused(member, 'Tab', selected);
  await keyboard.press('End');
  await expect(member.getByRole('tab', { name: 'Compare' })).toBeFocused();
  await keyboard.press('ArrowLeft');
  await expect(output).toBeFocused();
  await expect(member.getByRole('region', { name: 'Output' })).toContainText('42');
});
