import type { Page } from '@playwright/test';
import { addModel, test as console } from '../fixtures/agents.ts';
import {
  type Api,
  expect,
  expectAccessible,
  expectPagesAccessibleOnAllScreens,
  expectThemesAccessible,
  open,
  settled,
} from '../fixtures/console.ts';

/** Starts each test with an empty memory. */
const test = console.extend<{ nothingKnown: undefined }>({
  nothingKnown: [
    async ({ api }, use) => {
      await api.call('POST', '/v1/memory/forget', { of: 'me' });
      await use(undefined);
    },
    { auto: true },
  ],
});

/** Indexes a conversation with these sentences, and proposes an item for each. Returns the ids of the items. */
async function propose(api: Api, thread: string, statements: Record<string, string>): Promise<string[]> {
  const turns = Object.values(statements).map(text => ({ role: 'user', text }));
  const { episode_id } = await api.call('POST', '/v1/memory/index-conversation', { thread_id: thread, turns });
  const { chunks } = await api.call('GET', `/v1/memory/episodes/${String(episode_id)}`);
  const items = Object.entries(statements).map(([subject, text], at) => ({
    subject,
    text,
    evidence: [{ chunk_id: (chunks as { id: string }[])[at]?.id, quote: text }],
  }));
  const proposed = await api.call('POST', '/v1/memory/items', { items });
  return (proposed.items as { id: string }[]).map(({ id }) => id);
}

const current = (page: Page) => page.locator('li[aria-current="true"]');

test('proposals are reviewed with the keyboard, a chat recalls an accepted one, and an extraction finds more', async ({
  member,
  api,
  model,
}) => {
  await propose(api, 'review', {
    office: 'The office moved to Lisbon.',
    lunch: 'Lunch is at noon.',
    parking: 'Parking is behind the house.',
    coffee: 'Coffee is free.',
    tea: 'Tea costs a euro.',
  });
  await open(member, '/memory?view=review');
  await expect(member.getByText('5 proposals to review')).toBeVisible();
  await expectAccessible(member);
  // All items have the same time, so they are ordered by id.
  await expect(current(member)).toContainText('Tea costs a euro.');
  await expect(current(member).getByRole('list', { name: 'Evidence' })).toContainText('Tea costs a euro.');
  await member.keyboard.press('j');
  await expect(current(member)).toContainText('Coffee is free.');
  await member.keyboard.press('k');
  await expect(current(member)).toContainText('Tea costs a euro.');
  await member.keyboard.press('a');
  await expect(member.getByText('4 proposals to review')).toBeVisible();
  await expect(current(member)).toContainText('Coffee is free.');
  await member.keyboard.press('r');
  await expect(member.getByText('3 proposals to review')).toBeVisible();
  await expect(current(member)).toContainText('Parking is behind the house.');
  await member.keyboard.press('e');
  const form = member.getByRole('dialog', { name: 'Edit memory' });
  await form.getByRole('textbox', { name: 'Text' }).fill('Parking is in the yard.');
  await expectAccessible(member);
  await form.getByRole('button', { name: 'Save and accept' }).click();
  await expect(form).toHaveCount(0);
  await expect(member.getByText('2 proposals to review')).toBeVisible();
  await member.getByRole('checkbox', { name: 'Select all' }).click();
  await member.getByRole('button', { name: 'Accept 2' }).click();
  await expect(member.getByText('Nothing to review')).toBeVisible();

  const statusOf = async (subject: string) => {
    const { items } = await api.call('GET', `/v1/memory/items?subject=${subject}`);
    return (items as { status: string; text: string; author: string }[])[0];
  };
  for (const subject of ['tea', 'parking', 'office', 'lunch'])
    await expect.poll(async () => (await statusOf(subject))?.status).toBe('active');
  await expect.poll(async () => (await statusOf('coffee'))?.status).toBe('rejected');
  // The reworded item counts as written by a person.
  expect(await statusOf('parking')).toMatchObject({ text: 'Parking is in the yard.', author: 'person' });

  await addModel(api, model);
  const ferry = { subject: 'ferry', kind: 'fact', text: 'The ferry is free.', message: 1, quote: 'ferry is free' };
  const items = [
    { ...ferry, asked_quote: '' },
    { ...ferry, quote: 'never said', asked_quote: '' },
  ];
  model.script({
    answers: [
      { match: { any: 'write down what is worth remembering' }, content: [{ text: JSON.stringify({ items }) }] },
      { match: { last: 'parking' }, content: [{ text: 'In the yard.' }] },
    ],
  });
  await open(member, '/chat/new');
  await member.getByRole('textbox', { name: 'Message', exact: true }).fill('Where is parking? The ferry is free.');
  await member.getByRole('button', { name: 'Send', exact: true }).click();
  const answer = member.getByRole('article', { name: 'Answer', exact: true });
  await expect(answer).toContainText('In the yard.');
  await answer.getByText(/^Used \d memories$/).click();
  const used = answer.getByRole('list', { name: 'Memories' });
  await expect(used).toContainText('Parking is in the yard.');
  await expectThemesAccessible(member);

  await member.getByRole('button', { name: 'Extract memories' }).click();
  const extraction = member.getByRole('dialog', { name: 'Extract memories' });
  await extraction.getByRole('button', { name: 'Extract', exact: true }).click();
  await expect(extraction).toContainText('The conversation was read.');
  await expect(extraction.getByRole('list', { name: 'Result' })).toHaveText(
    '1 new memory1 finding without a quote discarded',
  );
  await expectAccessible(member);
  await extraction.getByRole('button', { name: 'Close' }).first().click();
  await used.getByRole('link', { name: 'Parking is in the yard.' }).click();
  const parking = member.getByRole('dialog', { name: 'parking' });
  await expect(parking.getByRole('list', { name: 'Uses' })).toContainText('Chat with');
  await expectAccessible(member);
  await member.goto('/memory?view=review');
  await expect(current(member)).toContainText('The ferry is free.');

  // Memories are extracted from a run and from a file.
  const tolls = { id: 'toll', type: 'lua_script', script: 'return "The toll is 3 euros."' };
  const { id } = await api.call('POST', '/v1/workflows', { name: 'Tolls', graph: { steps: [tolls] } });
  const { run_id: run } = await api.call('POST', `/v1/workflows/${String(id)}/test-runs`, {});
  const { episode_id: file } = await api.call('POST', '/v1/memory/index-file', {
    path: 'tolls.md',
    content: 'The toll is 3 euros.',
    visibility: 'private',
  });
  const toll = { subject: 'toll', kind: 'fact', text: 'The toll is 3 euros.', message: 1, quote: 'toll is 3 euros' };
  const reads = { content: [{ text: JSON.stringify({ items: [{ ...toll, asked_quote: '' }] }) }] };
  model.script({ answers: [{ match: { any: 'write down what is worth remembering' }, ...reads }] });
  for (const page of [`/workflows/${String(id)}/runs/${String(run)}`, `/memory?view=items&episode=${String(file)}`]) {
    await member.goto(page);
    await member.getByRole('button', { name: 'Extract memories' }).click();
    await expectAccessible(member);
    await extraction.getByRole('button', { name: 'Extract', exact: true }).click();
    await expect(extraction.getByRole('list', { name: 'Result' })).toHaveText('1 new memory');
  }
});

test('a memory is found, explained, replaced, reinstated, corrected and forgotten @phone', async ({ member, api }) => {
  const [flat = ''] = await propose(api, 'moving', { flat: 'The flat is in Porto.' });
  await api.call('POST', `/v1/memory/items/${flat}/confirm`, {});
  await open(member, '/memory');
  await member.getByRole('searchbox', { name: 'Search memories' }).fill('flat Porto');
  const hits = member.getByRole('list', { name: 'Memories' });
  await expect(hits).toContainText('1st by words');
  await expectAccessible(member);

  // A program proposes an item that contradicts another one, and a person decides between them.
  const { episode_id } = await api.call('POST', '/v1/memory/index-conversation', {
    thread_id: 'moving',
    turns: [{ role: 'user', text: 'We live in Braga now.' }],
  });
  const { chunks } = await api.call('GET', `/v1/memory/episodes/${String(episode_id)}`);
  const evidence = [{ chunk_id: (chunks as { id: string }[])[0]?.id, quote: 'Braga now' }];
  const item = { subject: 'flat', text: 'The flat is in Braga.', evidence, supersedes: flat };
  await api.call('POST', '/v1/memory/items', { items: [item] });
  await member.goto('/memory?view=health');
  await expect(member.getByRole('list', { name: 'Contradictions' })).toContainText('The flat is in Braga.');
  await member.goto('/memory?view=review');
  await expect(current(member)).toContainText('Would replace: The flat is in Porto.');
  await current(member).getByRole('button', { name: 'Accept' }).click();
  await expect(member.getByText('Nothing to review')).toBeVisible();

  await member.goto(`/memory?view=items&item=${flat}`);
  const dialog = member.getByRole('dialog', { name: 'flat' });
  await expect(dialog).toContainText('Superseded by');
  await expect(dialog.getByRole('list', { name: 'Evidence' })).toContainText('The flat is in Porto.');
  await expectAccessible(member);
  await dialog.getByRole('button', { name: 'Still true' }).click();
  await expect(dialog.getByRole('button', { name: 'Pin', exact: true })).toBeVisible();
  await dialog.getByRole('button', { name: 'Pin', exact: true }).click();
  await expect(dialog.getByText('Pinned')).toBeVisible();
  await dialog.getByRole('button', { name: 'Show the source' }).click();
  const source = member.getByRole('dialog', { name: 'moving' });
  await expect(source.locator('li[aria-current="true"]')).toContainText('The flat is in Porto.');
  await expectAccessible(member);
  await source.getByRole('button', { name: 'Close' }).click();

  await dialog.getByRole('button', { name: 'Edit' }).click();
  const form = member.getByRole('dialog', { name: 'Edit memory' });
  await form.getByRole('textbox', { name: 'Text' }).fill('The flat is in Porto, by the sea.');
  await form.getByRole('textbox', { name: 'Expires' }).fill('2099-12-31');
  await form.getByRole('button', { name: 'Save' }).click();
  await expect(dialog).toContainText('The flat is in Porto, by the sea.');
  await expect(dialog).toContainText('Expires');
  await dialog.getByRole('button', { name: 'Forget' }).click();
  const confirmation = member.getByRole('alertdialog', { name: 'Forget this?' });
  await expectAccessible(member);
  await confirmation.getByRole('button', { name: 'Forget' }).click();
  await expect(member.getByText('Forgotten', { exact: true })).toBeVisible();
  await expect(member.getByRole('table')).not.toContainText('by the sea');
  await expect(member.getByRole('table')).toContainText('The flat is in Braga.');
});

test('a person sees, exports and forgets their private memories @phone', async ({ member, api }) => {
  await propose(api, 'about me', { allergy: 'I am allergic to nuts.' });
  await open(member, '/memory?view=me');
  const known = member.getByRole('list', { name: 'Known about you' });
  await expect(known).toContainText('I am allergic to nuts.');
  await member.getByRole('button', { name: 'Show more' }).click();
  await expect(known).toContainText('Conversation: about me (1 part)');
  await expectAccessible(member);
  const exported = member.waitForEvent('download');
  await member.getByRole('button', { name: 'Export JSON' }).click();
  expect((await exported).suggestedFilename()).toBe('what-baton-knows-about-me.json');
  await member.getByRole('button', { name: 'Forget everything' }).click();
  await member
    .getByRole('alertdialog', { name: 'Forget everything about you?' })
    .getByRole('button', { name: 'Forget everything' })
    .click();
  await expect(member.getByText('1 item and 1 conversation forgotten')).toBeVisible();
  await expect(member.getByText('Nothing is stored about you')).toBeVisible();

  await member.getByRole('button', { name: 'Remember something' }).click();
  const form = member.getByRole('dialog', { name: 'Remember something' });
  await form.getByRole('textbox', { name: 'Subject' }).fill('birthday');
  await form.getByRole('textbox', { name: 'Text' }).fill('My birthday is in May.');
  await expectAccessible(member);
  await form.getByRole('button', { name: 'Remember', exact: true }).click();
  await expect(known).toContainText('My birthday is in May.');
});

test('every view of memory is accessible, in light and dark, also on a phone', async ({ member, api }) => {
  test.setTimeout(480_000);
  await propose(api, 'accessible', { office: 'The office moved to Lisbon.', lunch: 'Lunch is at noon.' });
  const paths = ['', '?q=office', '?view=review', '?view=items', '?view=me', '?view=health', '?open=remember'];
  await expectPagesAccessibleOnAllScreens(
    member,
    paths.map(path => `/memory${path}`),
  );
  await settled(member);
});
