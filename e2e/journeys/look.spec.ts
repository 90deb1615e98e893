import { expect, open, publishApproval, test } from '../fixtures/console.ts';

test('the sidebar collapses to icons, by key and by button, and stays collapsed in this browser', async ({
  member,
  api,
}) => {
  const workflow = await publishApproval(api, 'Collapsed');
  await member.setViewportSize({ width: 1280, height: 800 });
  await open(member, '/runs');
  const sidebar = member.getByRole('navigation', { name: 'Main' });
  // All entries are visible without scrolling.
  for (const name of ['Workflows', 'Memory', 'Settings'])
    await expect(sidebar.getByRole('link', { name })).toBeInViewport({ ratio: 1 });
  await expect(member.locator('aside')).toHaveCSS('width', '232px');
  await member.keyboard.press('[');
  await expect(member.locator('aside')).toHaveCSS('width', '56px');
  await sidebar.getByRole('link', { name: 'Agents' }).hover();
  await expect(member.getByRole('tooltip')).toContainText('Agents');
  await member.reload();
  await expect(member.locator('aside')).toHaveCSS('width', '56px');
  await member.getByRole('button', { name: 'Open the sidebar' }).click();
  await expect(member.locator('aside')).toHaveCSS('width', '232px');

  // An editor needs the width: the sidebar starts collapsed there, until a person chooses otherwise for editors.
  await open(member, `/workflows/${workflow}`);
  await expect(member.locator('aside')).toHaveCSS('width', '56px');
  await member.getByRole('button', { name: 'Open the sidebar' }).click();
  await expect(member.locator('aside')).toHaveCSS('width', '232px');
  await member.reload();
  await expect(member.locator('aside')).toHaveCSS('width', '232px');
});

test('the palette finds page actions and objects by words in any order', async ({ member, api }) => {
  await publishApproval(api, 'Quarterly invoice check');
  await open(member, '/workflows');
  await member.keyboard.press('ControlOrMeta+k');
  const search = member.getByPlaceholder('Search workflows, runs, pages…');
  await expect(search).toBeFocused();
  await search.fill('chek invoice');
  await expect(member.getByRole('option', { name: /^Quarterly invoice check/ })).toBeVisible();
  await search.fill('keys api');
  await expect(member.getByRole('option', { name: /^API keys/ })).toBeVisible();
  // The palette presses this button of the page.
  await search.fill('proposals');
  const proposals = member.getByRole('group', { name: 'On this page' }).getByRole('option', { name: 'Proposals' });
  await expect(proposals).toHaveAttribute('data-selected', 'true');
  await member.keyboard.press('Enter');
  await expect(member).toHaveURL(/\/workflows\/proposals$/);
});

test('page titles have one position, and the files for phones and crawlers exist', async ({ member }) => {
  await member.setViewportSize({ width: 1280, height: 800 });
  const places = new Set<string>();
  for (const path of ['/workflows', '/inbox', '/chat', '/settings', '/settings/profile', '/workflows/proposals']) {
    await open(member, path);
    const title = member.locator('main h1').first();
    await expect(title).toHaveCSS('font-size', '24px');
    const box = await member.locator('main :is(h1, h1 ~ *, :has(+ h1))').first().boundingBox();
    places.add(`${box?.x} ${Math.round(((await title.boundingBox())?.y ?? 0) / 2)}`);
  }
  expect([...places]).toHaveLength(1);
  for (const path of ['/robots.txt', '/manifest.webmanifest', '/icons/icon-192.png', '/opengraph-image.png'])
    expect((await member.request.get(path)).status(), path).toBe(200);
  // The URL of the image must be absolute: the recipients of a link cannot resolve a relative one.
  const picture = await member.locator('meta[property="og:image"]').getAttribute('content');
  expect(picture).toContain(`${new URL(member.url()).origin}/opengraph-image`);
});
