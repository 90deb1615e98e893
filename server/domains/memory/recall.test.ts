import { afterAll, beforeAll, expect, test } from 'vitest';
import type { FakeModel } from '../../../bin/fake-model/server.ts';
import { operations } from '../../api/operations.ts';
import type { Principal } from '../../operation/context.ts';
import { withContext } from '../../orchestrator/steps/agent/message-context.ts';
import { createCall } from '../../testing/call.ts';
import { type ChatService, startChatService } from '../../testing/chat.ts';
import type { TestContainer } from '../../testing/container.ts';
import { createTestMember, createTestPat, type TestTenant } from '../../testing/identity.ts';
import type { ItemResult } from '../../testing/memory.ts';
import { reached } from '../../testing/runs.ts';

let chat: ChatService;
let service: TestContainer;
let fake: FakeModel;
let acme: TestTenant;
let call: ReturnType<typeof createCall<typeof operations>>;

beforeAll(async () => {
  chat = await startChatService();
  ({ service, fake, acme } = chat);
  call = createCall(service.container.services, operations);
});
afterAll(() => chat.close());

let people = 0;
const somebody = (): Promise<Principal> => {
  people += 1;
  return createTestMember(service.container.services, acme, 'project_contributor', `r${people}@example.com`);
};
type Made = { id: string; run_id: string };
async function remember(by: Principal, subject: string, text: string, more: object = {}): Promise<string> {
  const made = await call(by, 'memory_propose_items', { items: [{ subject, text, ...more }], remember: true });
  return String((made as { items: { id: string }[] }).items[0]?.id);
}
const agentWith = async (memory?: object, instructions = 'Be brief.') => {
  const given = { name: 'Clerk', model: 'openai_compatible/scripted', instructions, ...(memory && { memory }) };
  return ((await call(acme.owner, 'agents_create', given)) as Made).id;
};

/** Runs an agent until it ends. Returns the messages that the model read, and the run. */
async function startAgent(
  by: Principal,
  agent: string,
  message: string,
): Promise<{ system: string; user: string; run: string }> {
  fake.script({ answers: [{ content: [{ text: 'Done.' }] }] });
  const before = fake.requests.length;
  const { run_id: run } = (await call(by, 'agents_run', { id: agent, input: { message } })) as Made;
  await reached(service.container.services, acme.owner, { id: agent, runID: run });
  const request = fake.requests[before]?.body as { messages?: { role: string; content: unknown }[] } | undefined;
  const messages = request?.messages ?? [];
  const textOf = (role: string) => JSON.stringify(messages.find(each => each.role === role)?.content ?? '');
  return { system: textOf('system'), user: textOf('user'), run };
}

test('an agent gets pinned memories and those that match the question, and each counts as used', async () => {
  const ada = await somebody();
  const pinned = await remember(ada, 'tone', 'Answers are in French.');
  await call(ada, 'memory_items_patch', { id: pinned, pinned: true });
  const found = await remember(ada, 'office', 'The office is in Lisbon.');
  await remember(ada, 'tea', 'Likes green tea.');
  const agent = await agentWith({ read: ['private'] });
  const { system, user, run } = await startAgent(ada, agent, 'Where is the office?');
  expect(system).toMatch(/^"Be brief\..*\[m:.*\] Answers are in French\. \(tone, /);
  expect(system).toContain(`[m:${pinned}]`);
  expect(user).toContain(`[m:${found}] The office is in Lisbon. (office, `);
  expect(user).toContain('Where is the office?');
  expect(user).not.toContain('green tea');
  const item = (await call(ada, 'memory_items_get', { id: found })) as ItemResult;
  expect(item.uses).toBe(1);
  const { rows } = await service.db.pool.query('SELECT target_ids FROM memory_recalls WHERE run_id = $1', [run]);
  expect(rows).toEqual([{ target_ids: [pinned, found] }]);
});

test('an agent without the setting gets no memories', async () => {
  const ada = await somebody();
  await remember(ada, 'office', 'The office is in Lisbon.');
  expect((await startAgent(ada, await agentWith(), 'Where is the office?')).user).not.toContain('Lisbon');
});

test('an agent gets only memories of the visibilities that it reads, and none of other people', async () => {
  const [ada, bob] = [await somebody(), await somebody()];
  await remember(ada, 'harbor', 'The harbor of Ada is small.');
  await remember(bob, 'harbor', 'The harbor of Bob is large.');
  await remember(ada, 'harbor', 'The harbor of all is closed.', { visibility: 'project' });
  const all = await startAgent(ada, await agentWith({ read: ['private', 'project'] }), 'How is the harbor?');
  expect(all.user).toContain('The harbor of Ada');
  expect(all.user).toContain('The harbor of all');
  const shared = await startAgent(ada, await agentWith({ read: ['project', 'workspace'] }), 'How is the harbor?');
  expect(shared.user).toContain('The harbor of all');
  for (const { system, user } of [all, shared]) expect(system + user).not.toContain('Bob');
  expect(shared.user).not.toContain('Ada');
});

test('an agent gets no superseded memories and none about other agents', async () => {
  const ada = await somebody();
  const [agent, other] = [await agentWith({ read: ['private'] }), await agentWith({ read: ['private'] })];
  await remember(ada, 'bridge', 'The bridge is green.', { agent_id: agent });
  await remember(ada, 'bridge', 'The bridge is mine.', { agent_id: other });
  const old = await remember(ada, 'bridge', 'The bridge is blocked.');
  await remember(ada, 'bridge', 'The bridge is open.', { supersedes: old });
  const { user } = await startAgent(ada, agent, 'How is the bridge?');
  expect(user).toContain('bridge is green');
  expect(user).toContain('bridge is open');
  expect(user).not.toContain('bridge is mine');
  expect(user).not.toContain('bridge is blocked');
});

test('quotation marks and hyphens of a message are no operators of the query', async () => {
  const ada = await somebody();
  await remember(ada, 'garage', 'The garage is in the yard.');
  const { user } = await startAgent(ada, await agentWith({ read: ['private'] }), 'Where is "our" garage? -yard');
  expect(user).toContain('The garage is in the yard.');
});

test('the query is the question without the data of the page on which it was asked', async () => {
  const ada = await somebody();
  await remember(ada, 'lift', 'The lift is broken.');
  await remember(ada, 'timeout', 'The timeout of the invoice workflow is 5 minutes.');
  const about = { workflow_name: 'invoice workflow', error: { code: 'timeout', message: 'The timeout was reached.' } };
  const asked = withContext('Is the lift broken?', about);
  const { user } = await startAgent(ada, await agentWith({ read: ['private'] }), asked);
  expect(user).toContain('The lift is broken.');
  expect(user).toContain('The timeout was reached.');
  expect(user).not.toContain('5 minutes');
});

test('the memories found have at most 1,200 tokens', async () => {
  const ada = await somebody();
  const long = (at: number) => `The castle number ${at} ${`is old and stands on hill ${at} `.repeat(40)}.`;
  for (const at of Array(10).keys()) await remember(ada, `castle ${at}`, long(at).slice(0, 2000));
  const { user } = await startAgent(ada, await agentWith({ read: ['private'] }), 'What of the castle?');
  const lines = user.match(/\[m:/g) ?? [];
  expect(lines.length).toBeGreaterThan(0);
  expect(lines.length).toBeLessThan(6);
});

test('an agent of a token without the scope gets no memories, and the log of the run says so', async () => {
  const ada = await somebody();
  await remember(ada, 'office', 'The office is in Lisbon.');
  const { principal } = await createTestPat(service.container.services, ada, ['ai:use', 'mcp:execute', 'workflow:run']);
  const agent = await agentWith({ read: ['private'] });
  const { user, run } = await startAgent(principal, agent, 'Where is the office?');
  expect(user).not.toContain('Lisbon');
  const events = await call(acme.owner, 'runs_list_events', { id: agent, runID: run, limit: 100 });
  expect(JSON.stringify(events)).toContain('does not have the scope memory:use');
});

test('the setting can be changed and reset', async () => {
  const agent = await agentWith({ read: ['workspace'] });
  const patched = await call(acme.owner, 'agents_patch', { id: agent, memory: { read: ['private', 'project'] } });
  expect(patched).toMatchObject({ memory: { read: ['private', 'project'] } });
  expect(await call(acme.owner, 'agents_patch', { id: agent, memory: null })).toMatchObject({ memory: null });
  const wrong = { name: 'Wrong', model: 'openai_compatible/scripted', memory: { read: [] } };
  await expect(call(acme.owner, 'agents_create', wrong)).rejects.toMatchObject({ status: 422 });
});
