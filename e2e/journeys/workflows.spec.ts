import { readFile } from 'node:fs/promises';
import { expect, open, publishApproval, test } from '../fixtures/console.ts';
import { replaceText } from '../fixtures/editor.ts';

test('a workflow is created from the example, and found in the list', async ({ member }) => {
  await member.goto('/workflows?create=1');
  await member.getByRole('button', { name: 'Create', exact: true }).click();
  await expect(member.getByText('Enter a name.')).toBeVisible();
  await member.getByRole('textbox', { name: 'Name' }).fill('Orders with review');
  await member.getByRole('radio', { name: 'Example' }).click();
  await member.getByRole('button', { name: 'Create', exact: true }).click();
  await expect(member).toHaveURL(/\/workflows\/[0-9a-f-]{36}/);
  await member.goto('/workflows');
  await expect(member.getByRole('link', { name: 'Orders with review', exact: true })).toBeVisible();
});

test('search and status filter are in the URL', async ({ member, api }) => {
  await api.call('POST', '/v1/workflows', { name: 'Quarterly report' });
  await api.call('POST', '/v1/workflows', { name: 'Nightly backup' });
  // The page itself contains the first rows: no cache may store it, and the browser does not request the rows again.
  const page = await member.request.get('/workflows?q=quarterly');
  expect(page.headers()['cache-control']).toContain('no-store');
  expect(await page.text()).toMatch(/>Quarterly report</);
  expect(await page.text()).not.toContain('Nightly backup');
  const calls = member.waitForRequest(/\/api\/trpc\//);
  const prefetched: string[] = [];
  member.on('request', request => request.headers()['next-router-prefetch'] && prefetched.push(request.url()));
  // The browser refetches rows that are five seconds old, which they can be before the page is alive.
  await member.clock.setFixedTime(Date.now());
  await open(member, '/workflows');
  expect((await calls).url()).not.toContain('workflows_list');
  await member.keyboard.press('/');
  const search = member.getByRole('searchbox', { name: 'Search workflows' });
  await expect(search).toBeFocused();
  // The last letter is typed when the others are in the URL but the page has not been drawn for them yet.
  await member.evaluate(() => {
    const { replaceState } = window.history;
    window.history.replaceState = (...to) => {
      window.history.replaceState = replaceState;
      replaceState.apply(window.history, to);
      document.execCommand('insertText', false, 'y');
    };
  });
  await search.fill('quarterl');
  await expect(member).toHaveURL(/q=quarterly/);
  await expect(member.getByRole('link', { name: 'Quarterly report', exact: true })).toBeVisible();
  await expect(member.getByRole('link', { name: 'Nightly backup' })).toHaveCount(0);
  await member.getByRole('combobox', { name: 'Status' }).click();
  await member.getByRole('option', { name: 'Published' }).click();
  await expect(member.getByText('No workflow matches')).toBeVisible();
  await member.goBack();
  await expect(member.getByRole('link', { name: 'Quarterly report', exact: true })).toBeVisible();

  // The browser prefetches a page only when the pointer is on its link.
  expect(prefetched).toEqual([]);
  await member.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Webhooks' }).hover();
  await expect.poll(() => prefetched.some(url => url.includes('/webhooks?'))).toBe(true);
  expect(prefetched.filter(url => !url.includes('/webhooks?'))).toEqual([]);
});

test('a workflow is exported as YAML and imported again', async ({ member, api }) => {
  await publishApproval(api, 'Travels well');
  await member.goto('/workflows');
  await member.getByRole('button', { name: 'Actions for Travels well' }).click();
  const download = member.waitForEvent('download');
  await member.getByRole('menuitem', { name: 'Export as YAML' }).click();
  const file = await download;
  expect(file.suggestedFilename()).toBe('travels-well.yaml');
  const text = (await readFile(await file.path(), 'utf8')).replace('name: Travels well', 'name: Travelled');
  await member.getByRole('button', { name: 'Import', exact: true }).click();
  await member.getByLabel('Document (JSON or YAML)').fill('not: a workflow');
  await member.getByRole('dialog').getByRole('button', { name: 'Import', exact: true }).click();
  await expect(member.getByRole('dialog').getByRole('alert')).toContainText('not a workflow document');
  const chosen = member.getByLabel('Choose a file');
  await chosen.setInputFiles({ name: 'a.yaml', mimeType: 'application/yaml', buffer: Buffer.from(text) });
  await expect(member.getByLabel('Document (JSON or YAML)')).toHaveValue(text);
  await expect(member.getByRole('dialog').getByRole('alert')).toHaveCount(0);
  // The input is cleared, so that the same file can be chosen again.
  await expect(chosen).toHaveValue('');
  await member.getByRole('dialog').getByRole('button', { name: 'Import', exact: true }).click();
  await expect(member).toHaveURL(/\/workflows\/[0-9a-f-]{36}/);
  await member.goto('/workflows');
  await expect(member.getByRole('link', { name: 'Travelled', exact: true })).toBeVisible();
});

test('archiving a workflow asks for confirmation', async ({ member, api }) => {
  await api.call('POST', '/v1/workflows', { name: 'Old habit' });
  await member.goto('/workflows');
  await member.getByRole('button', { name: 'Actions for Old habit' }).click();
  await member.getByRole('menuitem', { name: 'Archive' }).click();
  await member.getByRole('button', { name: 'Archive', exact: true }).click();
  await expect(member.getByText('Old habit is archived')).toBeVisible();
  await expect(member.getByRole('link', { name: 'Old habit' })).toHaveCount(0);
  await member.goto('/workflows?status=archived');
  await expect(member.getByRole('link', { name: 'Old habit' })).toBeVisible();
});

test('a run is started from the palette and appears in the feed', async ({ member, api }) => {
  await publishApproval(api, 'From the palette');
  await open(member, '/workflows');
  await member.keyboard.press('ControlOrMeta+k');
  await member.getByPlaceholder('Search workflows, runs, pages…').fill('from the palette');
  await member.getByRole('option', { name: 'Run From the palette' }).click();
  const input = member.getByRole('textbox', { name: 'Input as JSON' });
  await replaceText(input, '[]');
  await member.getByRole('button', { name: 'Start run' }).click();
  await expect(member.getByText('The input must be a JSON object.')).toBeVisible();
  await replaceText(input, '{"what":"this"}');
  await member.getByRole('button', { name: 'Start run' }).click();
  await expect(member).toHaveURL(/\/runs\/[0-9a-f-]{36}/);
  await member.goto('/runs?status=running');
  await expect(member.getByRole('row', { name: /From the palette/ })).toContainText('Waiting for a person');
});
