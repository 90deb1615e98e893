import type { Page } from '@playwright/test';
import {
  expect,
  expectAccessible,
  follow,
  publishApproval,
  settled,
  startApproval,
  test,
} from '../fixtures/console.ts';
import { consolePages } from '../fixtures/pages.ts';
import { joinAs, joinAsViewer } from '../fixtures/viewer.ts';

/** Collects the errors in the browser's console and the refused requests; a viewer's pages must cause neither. */
function collectErrors(page: Page): string[] {
  const errors: string[] = [];
  page.on('console', message => message.type() === 'error' && errors.push(message.text()));
  page.on('pageerror', error => errors.push(String(error)));
  page.on('response', answer => answer.status() >= 400 && errors.push(`${answer.status()} ${answer.url()}`));
  return errors;
}

test('a viewer opens every page without a refusal, and sees only actions that viewers may use', async ({
  api,
  page: viewer,
}) => {
  test.setTimeout(480_000);
  const approval = await publishApproval(api, 'Approve');
  const waiting = await startApproval(api, approval, 'this');
  const graph = {
    steps: [
      { id: 'call', type: 'mcp_call', instance_id: crypto.randomUUID(), tool: 'search', arguments: {} },
      { id: 'write', type: 'llm_call', depends_on: ['call'], model: 'openai/gpt-5', prompt: 'Write' },
    ],
  };
  const { id: unpublished } = await api.call('POST', '/v1/workflows', { name: 'Tools', graph });
  const tools = `/workflows/${String(unpublished)}`;
  await joinAsViewer(viewer, api);
  const errors = collectErrors(viewer);
  const visit = async (path: string) => {
    await viewer.goto(path);
    await settled(viewer);
  };

  await visit(tools);
  const main = viewer.getByRole('main');
  await expect(main.getByText('Select a step to view its settings.')).toBeVisible();
  await expect(main.getByRole('tab', { name: 'Test' })).toHaveCount(0);
  await expect(main.getByText('This needs the role')).toHaveCount(0);
  await expectAccessible(viewer);
  await visit(`${tools}?step=call`);
  await expect(main.getByRole('textbox', { name: 'MCP instance' })).toHaveAttribute('readonly');
  await expectAccessible(viewer);
  await visit(`${tools}?step=write`);
  await visit(`${tools}?panel=test`);
  await visit(`${tools}?panel=json`);
  await visit(`/workflows/${approval}?tab=versions`);
  await visit(`/workflows/${approval}?tab=runs`);

  await visit(`/workflows/${approval}/runs/${waiting}?step=ask`);
  await expect(main.getByRole('link', { name: 'Open in the inbox' }).first()).toBeVisible();
  await visit(`/inbox/${waiting}/ask`);
  await expect(main.getByText('You need the contributor role to answer.')).toBeVisible();
  await expect(main.getByRole('button', { name: 'Approve', exact: true })).toHaveCount(0);

  const links = viewer.getByRole('navigation', { name: 'Main' }).getByRole('link');
  await expect(links).toHaveText(['Workflows', 'Agents', 'Runs', 'Inbox', 'Usage', 'Chat', 'Memory', 'Settings']);
  const hrefs = await links.evaluateAll(all => all.map(link => link.getAttribute('href') ?? ''));
  await visit('/settings');
  const settings = viewer.getByRole('navigation', { name: 'Settings' }).getByRole('link');
  await expect(settings).toHaveText([
    'Back to workflows',
    'Members',
    'Projects',
    'Model keys',
    'Profile',
    'Notifications',
    'API reference',
  ]);
  // A page that the navigation hides still opens by its URL, and explains who may use it.
  for (const path of new Set([...hrefs, ...consolePages()])) await visit(path);
  expect(errors).toEqual([]);
});

test('a contributor opens every page without a refusal', async ({ api, page: contributor }) => {
  test.setTimeout(480_000);
  const approval = await publishApproval(api, 'Approve');
  const waiting = await startApproval(api, approval, 'that');
  await joinAs(contributor, api, { role: 'project_contributor', name: 'Cora' });
  const errors = collectErrors(contributor);
  const own = [`/workflows/${approval}`, `/workflows/${approval}/runs/${waiting}`, `/inbox/${waiting}/ask`];
  // All paths but the first are opened by links: loading a document takes three times the CPU, and the test above loads
  // each page.
  for (const [index, path] of [...own, ...consolePages()].entries()) {
    await (index === 0 ? contributor.goto(path) : follow(contributor, path));
    await settled(contributor);
  }
  expect(errors).toEqual([]);
});
