import { afterAll, beforeAll, expect, test } from 'vitest';
import { operations } from '../../api/operations.ts';
import type { Principal } from '../../operation/context.ts';
import { newId } from '../../platform/ids.ts';
import { createCall } from '../../testing/call.ts';
import { type ChatService, startChatService } from '../../testing/chat.ts';
import { createTestMember, createTestTenant, withScopes } from '../../testing/identity.ts';
import { asking, publishGraph } from '../../testing/runs.ts';
import { createTestProject, insertRun } from '../../testing/workflows.ts';
import { recordAudit } from './record.ts';

const TEXT = 'The shop in the old town closes at six on weekdays, and at four on Saturdays.';

let chat: ChatService;
let owner: Principal;
let colleague: Principal;
beforeAll(async () => {
  chat = await startChatService();
  ({ owner } = chat.acme);
  colleague = await createTestMember(chat.service.container.services, chat.acme, 'tenant_admin', 'ben@example.com');
});
afterAll(() => chat.close());

const act = (by: Principal, name: (typeof operations)[number]['name'], input: object) =>
  createCall(chat.service.container.services, operations)(by, name, input);

/** Returns the name of a thing that a reader of the audit log gets. */
async function nameFor(by: Principal, id: string): Promise<string | undefined> {
  const { services } = chat.service.container;
  const { tenantId, projectId, userId } = by;
  const about = { surface: 'rest' as const, operation: 'named', action: null, target: { id }, outcome: 'ok' };
  const request = { requestId: newId(), clientAddress: null };
  await recordAudit(services, { tenantId, projectId, userId, patId: null, ...about, ...request });
  const { entries } = (await act(by, 'audit_log_list', { target: id, limit: 1 })) as {
    entries: { names: Record<string, string> }[];
  };
  return entries[0]?.names.id;
}

/** Expects a name for the owner of a thing, and none for readers who may not read it: by workspace, person, project or scope. */
async function expectOwn(id: string, name: string, others: readonly Principal[]): Promise<void> {
  expect(await nameFor(owner, id)).toBe(name);
  for (const other of others) expect(await nameFor(other, id)).toBeUndefined();
}

const rivals = async (): Promise<Principal> => {
  const rival = await createTestTenant(chat.service.container.services, { slug: `rival-${newId().slice(-8)}` });
  return rival.owner;
};
/** The same person in another project of the workspace. */
const elsewhere = async (): Promise<Principal> => {
  const { projectId } = await createTestProject(chat.service.container.services, chat.acme, newId().slice(-8));
  return { ...owner, projectId };
};

test('a run is named by its workflow and the minute of its start', async () => {
  const { services } = chat.service.container;
  const workflowId = await publishGraph(services, owner, asking());
  const startedAt = new Date(Date.UTC(2026, 5, 1, 8, 5, 59));
  const run = await insertRun(services, { ...chat.acme, workflowId, startedAt });
  const name = 'Under test, 2026-06-01 08:05 UTC';
  await expectOwn(run, name, [await rivals(), withScopes(owner, 'pat:manage')]);
  // The list of runs covers the whole workspace, too.
  expect(await nameFor(await elsewhere(), run)).toBe(name);
});

test('a chat is named by its title, for those who may read it', async () => {
  const own = await chat.thread({ title: 'Salaries' });
  const scoped = withScopes(owner, 'pat:manage', 'workflow:read', 'memory:use');
  await expectOwn(own, 'Salaries', [colleague, await rivals(), await elsewhere(), scoped]);
  const shared = await chat.thread({ title: 'Opening hours', visibility: 'project' });
  expect(await nameFor(colleague, shared)).toBe('Opening hours');
  expect(await nameFor(withScopes(owner, 'pat:manage', 'ai:use'), own)).toBe('Salaries');
  await chat.act('chat_delete_thread', { id: own });
  expect(await nameFor(owner, own)).toBeUndefined();
});

test('a memory is named by its beginning, for those who may read it', async () => {
  const remember = async (visibility: string, text: string) => {
    const items = [{ subject: 'the shop', text, visibility }];
    const answer = await act(owner, 'memory_propose_items', { items, remember: true });
    return (answer as { items: { id: string }[] }).items[0]?.id ?? '';
  };
  const own = await remember('private', TEXT);
  const scoped = withScopes(owner, 'pat:manage', 'workflow:read', 'ai:use');
  await expectOwn(own, `${TEXT.slice(0, 59)}…`, [colleague, await rivals(), await elsewhere(), scoped]);
  const shared = await remember('project', 'It opens at nine.');
  expect(await nameFor(colleague, shared)).toBe('It opens at nine.');
  expect(await nameFor(await elsewhere(), shared)).toBeUndefined();
});

test('a view is named for its owner, and for others where it is shared', async () => {
  const create = async (name: string, shared: boolean) =>
    ((await act(owner, 'run_views_create', { name, shared, filters: { status: 'failed' } })) as { id: string }).id;
  const scoped = withScopes(owner, 'pat:manage');
  await expectOwn(await create('Mine', false), 'Mine', [colleague, await rivals(), await elsewhere(), scoped]);
  expect(await nameFor(colleague, await create('Ours', true))).toBe('Ours');
});

test('a proposal of Autopilot is named by its title, for those who may read it', async () => {
  const propose = async (title: string) => ((await act(owner, 'autopilot_propose', { title })) as { id: string }).id;
  const proposal = await propose('Ask a person first');
  const readers = [withScopes(owner, 'pat:manage', 'ai:use'), withScopes(owner, 'pat:manage', 'workflow:read')];
  await expectOwn(proposal, 'Ask a person first', [await rivals(), await elsewhere(), ...readers]);
  expect(await nameFor(colleague, proposal)).toBe('Ask a person first');
});
