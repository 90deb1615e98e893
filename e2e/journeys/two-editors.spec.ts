import type { Locator, Page } from '@playwright/test';
import { awaitLife } from '../fixtures/alive-page.ts';
import { expect, expectThemesAccessible, test } from '../fixtures/console.ts';
import { replaceText } from '../fixtures/editor.ts';
import { joinAs } from '../fixtures/viewer.ts';

type StoredStep = { id: string; type: string; name?: string; script?: string };
const lua = (id: string, name: string): StoredStep => ({ id, type: 'lua_script', name, script: 'return 1' });
const jsonOf = (page: Page) => page.getByRole('textbox', { name: 'Graph as JSON' });
const othersOf = (page: Page) => page.getByRole('status', { name: 'Other editors' });
const expectSaved = (page: Page) => expect(page.getByText('Saved', { exact: true })).toBeVisible();
const type = (page: Page, ...steps: StoredStep[]) => replaceText(jsonOf(page), JSON.stringify({ steps }, null, 2));
const announced = (page: Page) =>
  page.waitForResponse(answer => answer.url().includes('workflows_announce_editor') && answer.ok());

/** Expects both versions of a part, each labeled with the name of its author. */
async function expectSides(part: Locator, mine: string, theirs: string): Promise<void> {
  await expect(part.getByRole('radio', { name: /^You changed/ })).toContainText(mine);
  await expect(part.getByRole('radio', { name: /^Ada changed/ })).toContainText(theirs);
}

test('two people edit at once: each sees the other, a conflict names both authors, and no edit is lost', async ({
  member,
  api,
  browser,
  baseURL,
}) => {
  const graph = { steps: [lua('a', 'First'), lua('b', 'Second')] };
  const { id } = await api.call('POST', '/v1/workflows', { name: 'Shared', graph });
  const me = (await api.call('GET', '/v1/me')) as { user: { name: string } };
  const stored = async () => {
    const { graph } = await api.call('GET', `/v1/workflows/${String(id)}`);
    return new Map((graph as { steps: StoredStep[] }).steps.map(step => [step.id, step.name]));
  };
  const context = await browser.newContext(baseURL === undefined ? {} : { baseURL });
  const ada = await context.newPage();
  awaitLife(ada);
  await joinAs(ada, api, { role: 'project_contributor', name: 'Ada' });
  // The test controls Ada's clock, and thereby her polling interval of 15 seconds.
  await ada.clock.install();
  const page = `/workflows/${String(id)}?panel=json`;
  const first = announced(ada);
  await ada.goto(page);
  await first;
  await expect(jsonOf(ada)).toContainText('First');
  await expect(othersOf(ada)).toBeEmpty();

  await member.goto(page);
  await expect(othersOf(member)).toHaveText('Ada is editing');
  await expect(jsonOf(member)).toContainText('First');
  await ada.clock.fastForward(15_000);
  await expect(othersOf(ada)).toHaveText(`${me.user.name} is editing`);

  // The following edits of the member are saved only after Ada's.
  const held = Promise.withResolvers<void>();
  await member.route('**/api/trpc/workflows_patch*', async route => {
    await held.promise;
    await route.continue();
  });
  await type(member, lua('a', 'Mine A'), lua('b', 'Mine B'), lua('mine', 'Mine alone'));
  await expect(member.getByText('Saving…')).toBeVisible();
  await type(ada, lua('a', 'Hers A'), lua('b', 'Hers B'), lua('hers', 'Hers alone'));
  await expectSaved(ada);
  held.resolve();

  const conflict = member.getByRole('region', { name: 'Conflict' });
  await expect(conflict).toContainText('Ada also changed this draft');
  const steps = conflict.getByRole('list', { name: 'Conflicting steps' }).getByRole('listitem');
  await expect(steps).toHaveCount(2);
  await expectSides(steps.filter({ hasText: 'Mine A' }), 'Mine A', 'Hers A');
  await expectSides(steps.filter({ hasText: 'Mine B' }), 'Mine B', 'Hers B');
  await expectThemesAccessible(member);
  const use = conflict.getByRole('button', { name: 'Resolve' });
  await steps
    .filter({ hasText: 'Mine A' })
    .getByRole('radio', { name: /^You changed/ })
    .click();
  await expect(use).toBeDisabled();
  expect(await stored()).toEqual(
    new Map([
      ['a', 'Hers A'],
      ['b', 'Hers B'],
      ['hers', 'Hers alone'],
    ]),
  );
  await steps
    .filter({ hasText: 'Mine B' })
    .getByRole('radio', { name: /^Ada changed/ })
    .click();
  await use.click();
  await expect(conflict).toHaveCount(0);
  await expectSaved(member);
  const both = new Map([
    ['a', 'Mine A'],
    ['b', 'Hers B'],
    ['hers', 'Hers alone'],
    ['mine', 'Mine alone'],
  ]);
  await expect.poll(async () => new Map([...(await stored())].sort())).toEqual(both);

  // Ada has typed nothing since, and sees all changes.
  await ada.clock.fastForward(15_000);
  await expect(jsonOf(ada)).toContainText('Mine alone');
  await expect(jsonOf(ada)).toContainText('Mine A');

  const left = announced(ada);
  await ada.getByRole('link', { name: 'Workflows' }).first().click();
  await left;
  await member.reload();
  await expect(jsonOf(member)).toContainText('Mine alone');
  await expect(othersOf(member)).toBeEmpty();
  await context.close();
});

test('two windows of one user see each other', async ({ member, api }) => {
  const { id } = await api.call('POST', '/v1/workflows', { name: 'Twice', graph: { steps: [lua('a', 'First')] } });
  await member.goto(`/workflows/${String(id)}`);
  await expect(member.locator('[data-step="a"]')).toBeVisible();
  await expect(othersOf(member)).toBeEmpty();
  const second = await member.context().newPage();
  awaitLife(second);
  await second.goto(`/workflows/${String(id)}`);
  for (const window of [member, second]) await expect(othersOf(window)).toHaveText('You are editing in another window');
  await second.getByRole('tab', { name: 'Versions' }).click();
  await expect(othersOf(member)).toBeEmpty();
  await second.getByRole('tab', { name: 'Draft' }).click();
  await expect(othersOf(member)).toHaveText('You are editing in another window');
  await second.goto('/workflows');
  await expect(othersOf(member)).toBeEmpty();
  await second.close();
});
