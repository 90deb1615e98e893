import type { Page } from '@playwright/test';
import { addModel, expect, makeInstance, test } from '../fixtures/agents.ts';
import { expectThemesAccessible, open } from '../fixtures/console.ts';

const answers = (page: Page) => page.getByRole('article', { name: 'Answer', exact: true });
const message = (page: Page) => page.getByRole('textbox', { name: 'Message', exact: true });
const send = async (page: Page, text: string, button = 'Send') => {
  await message(page).fill(text);
  await page.getByRole('button', { name: button, exact: true }).click();
};

test('an answer is streamed, reloaded, stopped and regenerated @phone', async ({ member, api, model }) => {
  await addModel(api, model);
  model.script({
    answers: [
      {
        match: { last: 'greet' },
        content: [{ text: ['Hello ', '**there**'] }, { hold: 'greeting' }, { text: ' again.' }],
      },
      { match: { last: 'count' }, content: [{ text: 'One, two' }, { hold: 'counting' }, { text: ', three.' }] },
      { match: { last: 'edited' }, content: [{ text: 'So be it.' }] },
    ],
  });
  await open(member, '/chat/new');
  await send(member, 'Please greet me.');
  await expect(member).toHaveURL(/\/chat\/[0-9a-f-]{36}$/);
  await expect(answers(member)).toContainText('Hello there');
  await expectThemesAccessible(member);
  await member.reload();
  await expect(answers(member)).toContainText('Hello there');
  await expect(member.getByRole('button', { name: 'Stop' })).toBeVisible();
  model.release('greeting');
  await expect(answers(member)).toHaveText(/^Hello there again\.$/);
  await expect(member.getByRole('button', { name: 'Stop' })).toHaveCount(0);

  await send(member, 'Now count.');
  await expect(answers(member).last()).toContainText('One, two');
  await send(member, 'And then edited.', 'Queue');
  await expect(answers(member).last()).toContainText('Waiting for the previous answer');
  await member.getByRole('button', { name: 'Stop' }).click();
  await expect(answers(member).nth(1)).toContainText('Stopped');
  await expect(answers(member).nth(1)).toContainText('One, two');
});

test('a message is edited and answered again on branches, and a thread is forked', async ({ member, api, model }) => {
  await addModel(api, model);
  model.script({
    answers: [
      { match: { last: 'first' }, content: [{ text: 'To the first.' }] },
      { match: { last: 'second' }, content: [{ text: 'To the second.' }] },
    ],
  });
  await open(member, '/chat/new');
  await send(member, 'The first question');
  await expect(answers(member)).toContainText('To the first.');
  await member.getByRole('button', { name: 'Edit the message' }).click();
  await member.getByRole('textbox', { name: 'Edited message' }).fill('The second question');
  await member
    .getByRole('article', { name: /^Message from/ })
    .getByRole('button', { name: 'Send', exact: true })
    .click();
  await expect(answers(member)).toContainText('To the second.');
  await expect(member.getByText('2 of 2')).toBeVisible();
  await member.getByRole('button', { name: 'Show the previous version' }).click();
  await expect(answers(member)).toContainText('To the first.');
  await expect(member.getByText('1 of 2')).toBeVisible();
  await member.getByRole('button', { name: 'Regenerate' }).click();
  await expect(answers(member).getByText('2 of 2')).toBeVisible();
  await expect(answers(member)).toContainText('To the first.');
  await expectThemesAccessible(member);
  const thread = member.url();
  await member.getByRole('button', { name: 'Continue in a new thread from here' }).click();
  await expect(member).not.toHaveURL(thread);
  await expect(answers(member)).toContainText('To the first.');
  await expect(member.getByText('2 of 2')).toHaveCount(0);

  // The forked thread is renamed, shared with the project, and deleted.
  const chooseAction = async (name: string) => {
    await member.getByRole('button', { name: 'Actions for the thread' }).click();
    await member.getByRole('menuitem', { name }).click();
  };
  await chooseAction('Rename');
  await member.getByRole('textbox', { name: 'Title' }).fill('The copy');
  await member.getByRole('button', { name: 'Rename', exact: true }).click();
  await expect(member.getByRole('heading', { level: 1, name: 'The copy' })).toBeVisible();
  await chooseAction('Share with the project');
  await expect(member.getByText('Shared', { exact: true })).toBeVisible();
  await chooseAction('Delete');
  await member.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
  await expect(member).toHaveURL(/\/chat$/);
  await expect(member.getByRole('link', { name: /The copy/ })).toHaveCount(0);
});

test('a long conversation shows where it was summarized @phone', async ({ member, api, model }) => {
  await addModel(api, model);
  const long = 'The shop on the corner sells bread. '.repeat(100);
  model.script({
    answers: [
      { match: { any: 'You summarise a conversation' }, content: [{ text: 'It is about a **shop**.' }] },
      { match: { last: 'closes' }, content: [{ text: 'At six.' }] },
      { match: { last: 'sells' }, content: [{ text: 'Bread.' }] },
    ],
  });
  const agent = await api.call('POST', '/v1/agents', {
    name: 'Short memory',
    model: 'openai_compatible/scripted',
    limits: { context_tokens: 1_500 },
  });
  const thread = await api.call('POST', '/v1/chat/threads', { agent_id: agent.id });
  await open(member, `/chat/${String(thread.id)}`);
  await send(member, long);
  await expect(answers(member)).toContainText('Bread.');
  await send(member, 'When is it that it closes?');
  await expect(answers(member).last()).toContainText('At six.');
  const meter = member.getByRole('meter', { name: 'Context' });
  await expect(meter).toHaveAttribute('aria-valuetext', / of 1,500 tokens$/);
  const summary = answers(member)
    .last()
    .getByText(/^Summarized \d+ messages/);
  await summary.click();
  await expect(answers(member).last()).toContainText('It is about a shop.');
  await expectThemesAccessible(member);
});

test('a call is approved in the inbox while the chat is open in another page @phone', async ({
  member,
  api,
  model,
  context,
}) => {
  const instance_id = await makeInstance(api, 'Invoices');
  await addModel(api, model);
  const name = `Invoice clerk ${test.info().project.name}`;
  const agent = await api.call('POST', '/v1/agents', {
    name,
    model: 'openai_compatible/scripted',
    tools: [{ type: 'mcp', instance_id, tools: ['create_invoice'] }],
  });
  const invoice = { customer: 'Ann', lines: [{ description: 'Work', quantity: 2, unit_price: 50 }] };
  const callInvoice = { content: [{ calls: [{ name: 'create_invoice', arguments: invoice }] }] };
  const answerOf = (text: string) => ({ content: [{ text }] });
  model.script({
    answers: [
      callInvoice,
      answerOf('It is written.'),
      callInvoice,
      answerOf('I did not.'),
      callInvoice,
      answerOf('As always.'),
      callInvoice,
      answerOf('Once more.'),
      answerOf('It was told not to.'),
    ],
  });
  const thread = await api.call('POST', '/v1/chat/threads', { agent_id: agent.id });
  await open(member, `/chat/${String(thread.id)}`);
  await send(member, 'Write an invoice for Ann.');
  const approval = member.getByRole('group', { name: 'Approval of create_invoice' });
  await expect(approval).toContainText('May create_invoice be called?');
  await expect(approval).toContainText(/The call costs at most 0\.\d+ credits\./);
  await expect(answers(member)).toContainText('Waiting for a person');
  await expectThemesAccessible(member);

  const inbox = await context.newPage();
  await open(inbox, '/inbox');
  await inbox
    .getByRole('link', { name: /create_invoice/ })
    .first()
    .click();
  await inbox.getByRole('button', { name: 'Approve', exact: true }).click();
  await expect(inbox.getByText(/^Approved “/)).toBeVisible();
  await inbox.close();

  await expect(answers(member)).toContainText('It is written.');
  await expect(approval).toHaveCount(0);
  await answers(member).getByText('create_invoice', { exact: true }).click();
  await expect(answers(member)).toContainText('INV-');
  await expect(answers(member).getByText(/credits$/)).toBeVisible();
  await expect(answers(member).getByRole('link', { name: 'Open the step' })).toBeVisible();

  await send(member, 'Another one.');
  await approval.getByRole('textbox', { name: 'Reason to reject' }).fill('One is enough.');
  await approval.getByRole('button', { name: 'Reject', exact: true }).click();
  await expect(answers(member).last()).toContainText('I did not.');
  await expect(answers(member).last()).toContainText('Skipped (not approved)');

  // With a grant for this chat, the next call needs no approval until the grant is withdrawn.
  await send(member, 'And for Bob.');
  await approval.getByRole('button', { name: 'Always in this chat', exact: true }).click();
  await expect(answers(member).last()).toContainText('As always.');
  await send(member, 'And for Eve.');
  await expect(answers(member).last()).toContainText('Once more.');
  const allowed = member.getByText('One tool is used here without asking', { exact: true });
  await allowed.click();
  await expect(member.getByRole('list', { name: 'Allowed calls' })).toContainText('create_invoice');
  await expectThemesAccessible(member);
  await member.getByRole('button', { name: 'Revoke', exact: true }).click();
  await expect(allowed).toHaveCount(0);

  // An agent is mentioned by keyboard, and one of its runs by mouse.
  const field = message(member);
  await field.pressSequentially(`Ask @nobody of this name or @invoice clerk ${test.info().project.name.slice(0, -1)}`);
  const offered = member.getByRole('listbox', { name: 'Mention' }).getByRole('option');
  await expect(offered).toHaveText(/Invoice clerk.*Agent/);
  await expectThemesAccessible(member);
  await field.press('Escape');
  await expect(offered).toHaveCount(0);
  await field.press(name.slice(-1));
  await expect(offered).toHaveAttribute('aria-selected', 'true');
  await field.press('Enter');
  const mention = `[${name}](/agents/${String(agent.id)})`;
  await expect(field).toHaveValue(`Ask @nobody of this name or ${mention} `);
  await field.fill(`Why did ${mention} not write `);
  await field.press('End');
  await field.pressSequentially('@');
  await offered.last().click();
  await expect(field).toBeFocused();
  await expect(field).toHaveValue(/ not write \[[^\]]+\]\(\/[^)]+\) $/);
  await field.press('Enter');
  await expect(answers(member).last()).toContainText('It was told not to.');
  await expect(member.getByRole('link', { name: `@${name}` })).toHaveAttribute('href', `/agents/${agent.id}`);
  expect(JSON.stringify(model.requests.at(-1))).toContain(mention);
});

test('the chat can be opened beside any page', async ({ member, api, model }) => {
  await addModel(api, model);
  model.script({ answers: [{ match: { last: 'Hello' }, content: [{ text: 'Good morning.' }] }] });
  await open(member, '/workflows');
  await expect(member.getByRole('heading', { level: 1 })).toBeVisible();
  await member.keyboard.press('ControlOrMeta+j');
  const panel = member.getByRole('complementary', { name: 'Chat' });
  await expect(message(member)).toBeFocused();
  await send(member, 'Hello');
  await expect(panel.getByRole('article', { name: 'Answer' })).toContainText('Good morning.');
  await member.getByRole('link', { name: 'Runs', exact: true }).click();
  await expect(member.getByRole('heading', { level: 1, name: 'Runs' })).toBeVisible();
  await expect(panel.getByRole('article', { name: 'Answer' })).toContainText('Good morning.');
  await panel.getByRole('button', { name: 'Open as a page' }).click();
  await expect(member).toHaveURL(/\/chat\/[0-9a-f-]{36}$/);
  await expect(panel).toHaveCount(0);
  await expect(answers(member)).toContainText('Good morning.');

  // An administrator sets a daily limit, and the thread shows the used share.
  const thread = member.url();
  await open(member, '/settings/chat');
  const credits = member.getByRole('textbox', { name: 'Daily credits per person' });
  await credits.fill('many');
  await member.getByRole('button', { name: 'Save', exact: true }).click();
  await expect(member.getByText('Enter a number that is 0 or more.')).toBeVisible();
  await credits.fill('5000');
  await member.getByRole('textbox', { name: 'Days to keep threads' }).fill('365');
  await member.getByRole('button', { name: 'Save', exact: true }).click();
  await expect(member.getByText('Chat settings saved')).toBeVisible();
  await member.getByRole('combobox', { name: 'Autopilot', exact: true }).click();
  await member.getByRole('option', { name: 'openai_compatible/scripted' }).click();
  await expect(member.getByText('Default model saved')).toBeVisible();
  await expect(member.getByRole('combobox', { name: 'Tools that make changes' })).toContainText('Not set');
  await expectThemesAccessible(member);
  await member.goto(thread);
  await expect(member.getByText(/^Today .* of 5,000/)).toBeVisible();
});
