import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { scopes } from '../../orchestrator/ports/authority.ts';
import { ManualClock } from '../../platform/clock.ts';
import { startTestContainer, type TestContainer } from '../../testing/container.ts';
import { createTestPat, createTestTenant, type TestTenant } from '../../testing/identity.ts';
import { recordAudit, settleAudit } from './record.ts';

type Session = { saves: number; first_at: string; from_revision: number | null; to_revision: number | null };
type Entry = {
  at: string;
  operation: string;
  user: { email: string };
  target: Record<string, string>;
  names: Record<string, string>;
  session: Session | null;
};

const MINUTE = 60_000;
const clock = new ManualClock(Date.UTC(2026, 5, 1));
let service: TestContainer;
let acme: TestTenant;
const tokens = { owner: '', contributor: '' };

beforeAll(async () => {
  service = await startTestContainer({}, { clock });
  acme = await createTestTenant(service.container.services, { slug: 'acme' });
  for (const role of ['owner', 'contributor'] as const)
    tokens[role] = (await createTestPat(service.container.services, acme[role], scopes)).token;
});
afterAll(() => service.close());

async function send(method: string, path: string, token: string, body?: unknown): Promise<Record<string, unknown>> {
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
  const answer = await fetch(service.url + path, {
    method,
    headers,
    body: body === undefined ? null : JSON.stringify(body),
  });
  expect(answer.ok, `${method} ${path}`).toBe(true);
  return answer.status === 204 ? {} : ((await answer.json()) as Record<string, unknown>);
}

async function createWorkflow(name: string): Promise<string> {
  return String((await send('POST', '/v1/workflows', tokens.owner, { name })).id);
}

let saveCount = 0;
async function save(id: string, token = tokens.owner): Promise<void> {
  saveCount += 1;
  await send('PATCH', `/v1/workflows/${id}`, token, { description: `Text ${saveCount}` });
  await settleAudit(service.container.services);
}

const listEntries = async (id: string, query = ''): Promise<Entry[]> => {
  const { entries } = await send('GET', `/v1/audit-log?target=${id}&limit=100${query}`, tokens.owner);
  return (entries as Entry[]).filter(({ operation }) => operation !== 'workflows_create');
};

test('a person’s saves with pauses of at most a quarter of an hour are one entry; the log keeps every save', async () => {
  const id = await createWorkflow('Orders');
  const start = clock.now();
  for (let n = 0; n < 5; n += 1) {
    await save(id);
    if (n < 4) clock.advance(15 * MINUTE);
  }
  const [entry, ...others] = await listEntries(id);
  expect(others).toEqual([]);
  expect(entry).toMatchObject({
    at: new Date(start + 60 * MINUTE).toISOString(),
    names: { id: 'Orders' },
    session: { saves: 5, first_at: new Date(start).toISOString(), from_revision: 1, to_revision: 6 },
  });
  expect(await listEntries(id, '&saves=each')).toHaveLength(5);
  const csv = await fetch(`${service.url}/v1/audit-log/export?target=${id}&operation=workflows_patch`, {
    headers: { Authorization: `Bearer ${tokens.owner}` },
  });
  expect((await csv.text()).trim().split('\r\n')).toHaveLength(6);
  // A save a millisecond later starts another session.
  clock.advance(15 * MINUTE + 1);
  await save(id);
  expect((await listEntries(id)).map(({ session }) => session?.saves ?? 1)).toEqual([1, 5]);
});

test('a period includes only its part of a session', async () => {
  const id = await createWorkflow('Cut');
  const times: string[] = [];
  for (let n = 0; n < 4; n += 1) {
    await save(id);
    times.push(new Date(clock.now()).toISOString());
    clock.advance(MINUTE);
  }
  const [head = '', , third = ''] = times;
  expect((await listEntries(id, `&to=${third}`)).map(({ session }) => session?.saves)).toEqual([2]);
  expect((await listEntries(id, `&from=${third}`)).map(({ session }) => session)).toMatchObject([
    { saves: 2, first_at: third, to_revision: 5 },
  ]);
  expect((await listEntries(id, `&from=${head}`)).map(({ session }) => session?.saves)).toEqual([4]);
});

test('two people who save alternately have two sessions, and another draft has its own session', async () => {
  const [id, other] = [await createWorkflow('Shared'), await createWorkflow('Other')];
  for (let n = 0; n < 3; n += 1) {
    await save(id);
    await save(id, tokens.contributor);
    await save(other);
    clock.advance(MINUTE);
  }
  const sessions = (await listEntries(id)).map(({ user, session }) => [user.email, session?.saves]).sort();
  expect(sessions).toEqual([
    [acme.contributor.email, 3],
    [acme.owner.email, 3],
  ]);
  expect((await listEntries(other)).map(({ session }) => session?.saves)).toEqual([3]);
});

test('saves through two servers, before and after a crash, are one session', async () => {
  const id = await createWorkflow('Crashed');
  const { pool, logger } = service.container.services;
  const { userId, tenantId, projectId } = acme.owner;
  // Acknowledged saves are in the database: another server continues without the memory of the first.
  const other = new pg.Pool({ ...pool.options });
  const record = (server: pg.Pool, revision: number) =>
    recordAudit(
      { pool: server, logger, clock },
      {
        ...{ userId, tenantId, projectId, patId: null, surface: 'trpc', operation: 'workflows_patch', action: null },
        ...{ target: { id, revision: String(revision) }, outcome: 'ok', requestId: 'r', clientAddress: null },
      },
    );
  await Promise.all([record(pool, 2), record(other, 3), record(pool, 4), record(other, 5)]);
  await other.end();
  clock.advance(MINUTE);
  await record(pool, 6);
  const [entry, ...others] = await listEntries(id);
  expect(others).toEqual([]);
  expect(entry?.session).toMatchObject({ saves: 5, to_revision: 6 });
});

test('refused saves are separate entries, and deleted things are shown by id', async () => {
  const id = await createWorkflow('Gone');
  await save(id);
  const reader = (await createTestPat(service.container.services, acme.owner, ['workflow:read'])).token;
  const answer = await fetch(`${service.url}/v1/workflows/${id}`, {
    method: 'PATCH',
    headers: { Authorization: `Bearer ${reader}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ name: 'x' }),
  });
  expect(answer.status).toBe(403);
  const { id: project } = await send('POST', '/v1/projects', tokens.owner, { name: 'Short' });
  await send('DELETE', `/v1/projects/${String(project)}`, tokens.owner);
  const about = await listEntries(String(project));
  expect(about.map(({ names }) => names)).toEqual([{}, {}]);
  const rival = await createTestTenant(service.container.services, { slug: 'rival' });
  const { token } = await createTestPat(service.container.services, rival.owner, scopes);
  const seen = await fetch(`${service.url}/v1/audit-log?target=${id}`, {
    headers: { Authorization: `Bearer ${token}` },
  });
  expect(await seen.json()).toMatchObject({ entries: [] });
});
