import type { Locator, Page } from '@playwright/test';
import { expect, expectThemesAccessible, open, publishApproval, startApproval, test } from '../fixtures/console.ts';

test.use({ viewport: { width: 390, height: 844 }, hasTouch: true });

/** Returns the list with this name once it has rows. Expects that it does not scroll horizontally. */
async function cardsOf(page: Page, name: string) {
  const list = page.getByRole('region', { name, exact: true });
  await expect(page.locator('[data-skeleton]')).toHaveCount(0);
  await expect(list.getByRole('row').nth(1)).toBeVisible();
  await expect.poll(() => list.evaluate(region => region.scrollWidth - region.clientWidth)).toBe(0);
  await expectThemesAccessible(page);
  return list;
}

/**
 * Returns the widths of the times in a list if each shows this text. A wider text could wrap and move every card below.
 */
const widthsAt = (list: Locator, time: string) =>
  list.locator('[data-ticks]').evaluateAll((times, text) => {
    for (const each of times) each.textContent = text;
    return times.map(each => each.getBoundingClientRect().width);
  }, time);

test('on a phone, lists are cards whose main facts are visible, and whose links and menus can be reached', async ({
  member,
  api,
}) => {
  test.setTimeout(480_000);
  const name = 'A workflow whose name is so long that it does not fit into one line of a phone';
  const workflow = await publishApproval(api, name);
  const run = await startApproval(api, workflow, 'this');
  await api.call('POST', '/v1/inbound-webhooks', { workflow_id: workflow, name: 'Orders of the shop' });

  await open(member, `/workflows?q=${encodeURIComponent(name)}`);
  const workflows = await cardsOf(member, 'Workflows');
  await expect(workflows).toContainText('Waiting for a person');
  expect(await widthsAt(workflows, '13 days ago')).toEqual(await widthsAt(workflows, 'just now'));
  await workflows.getByRole('button', { name: `Actions for ${name}` }).tap();
  await expect(member.getByRole('menuitem', { name: 'Archive' })).toBeVisible();
  await member.keyboard.press('Escape');
  await expect(member.getByRole('menuitem')).toHaveCount(0);
  await workflows.getByRole('link', { name, exact: true }).tap();
  await expect(member).toHaveURL(new RegExp(`/workflows/${workflow}$`));

  await open(member, `/runs?q=${run}`);
  const runs = await cardsOf(member, 'Runs');
  await expect(runs).toContainText('0/1');
  await expect(member.getByLabel('From')).toBeInViewport({ ratio: 1 });
  await expect(member.getByLabel('To', { exact: true })).toBeInViewport({ ratio: 1 });
  await runs.getByRole('link', { name }).tap();
  await expect(member).toHaveURL(new RegExp(`/runs/${run}$`));

  await open(member, '/webhooks');
  const webhooks = await cardsOf(member, 'Webhooks');
  await webhooks.getByRole('button', { name: 'Actions for Orders of the shop' }).tap();
  await expect(member.getByRole('menuitem', { name: 'Delete' })).toBeVisible();
  await member.keyboard.press('Escape');

  await open(member, `/settings/audit-log?target=${workflow}&period=custom`);
  const audit = await cardsOf(member, 'Audit log');
  await expect(audit).toContainText('workflows_create');
  await expect(member.getByLabel('From')).toBeInViewport({ ratio: 1 });

  await open(member, '/settings/members');
  const members = await cardsOf(member, 'Members');
  await expect(members.getByRole('switch').first()).toBeInViewport({ ratio: 1 });
});

test('on a phone, the problems of a draft are collapsed, and cover less than a third of the canvas when expanded', async ({
  member,
  api,
}) => {
  const steps = Array.from({ length: 6 }, (_, n) => ({ id: `step_${n}`, type: 'lua_script', script: '' }));
  const { id } = await api.call('POST', '/v1/workflows', { name: 'Six problems', graph: { steps } });
  await open(member, `/workflows/${String(id)}`);
  const problems = member.getByRole('region', { name: 'Problems' });
  await expect(problems).toContainText('6 problems');
  await expect(problems.getByRole('listitem')).toHaveCount(0);
  // A tap anywhere on the bar opens it.
  await problems.tap({ position: { x: 40, y: 18 } });
  await expect(problems.getByRole('listitem')).toHaveCount(6);
  const canvas = member.getByRole('region', { name: 'Graph of the draft' });
  const heightOf = async (element: Locator) => (await element.boundingBox())?.height ?? Number.NaN;
  expect((await heightOf(problems)) / (await heightOf(canvas))).toBeLessThan(0.34);
  await expectThemesAccessible(member);
  await problems.getByRole('button', { name: 'Hide' }).tap();
  await expect(problems.getByRole('listitem')).toHaveCount(0);
});
