import pg from 'pg';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Scope, scopes } from '../../orchestrator/ports/authority.ts';
import { ManualClock } from '../../platform/clock.ts';
import { newId } from '../../platform/ids.ts';
import { startTestContainer, type TestContainer } from '../../testing/container.ts';
import { createTestPat, createTestTenant, type TestTenant } from '../../testing/identity.ts';
import { asking, publishGraph } from '../../testing/runs.ts';
import { recordAudit, recordAuditLater, settleAudit } from './record.ts';

type Wire = Record<string, unknown> & { id: string; operation: string; target: Record<string, string> };

const DAY = 86_400_000;
const clock = new ManualClock(Date.UTC(2026, 5, 1));
let service: TestContainer;
let acme: TestTenant;
let workflow: string;
let admin: string;

beforeAll(async () => {
  service = await startTestContainer({}, { clock });
  acme = await createTestTenant(service.container.services, { slug: 'acme' });
  workflow = await publishGraph(service.container.services, acme.owner, asking());
  admin = await tokenOf('owner', [...scopes]);
});
afterAll(() => service.close());

const tokenOf = async (role: 'owner' | 'contributor' | 'viewer', granted: Scope[], tenant = acme) =>
  (await createTestPat(service.container.services, tenant[role], granted)).token;

const send = (method: string, path: string, token: string | null, body?: unknown) =>
  fetch(service.url + path, {
    method,
    headers: { ...(token && { Authorization: `Bearer ${token}` }), 'Content-Type': 'application/json' },
    body: body === undefined ? null : JSON.stringify(body),
  });

async function entries(query = '', token = admin): Promise<Wire[]> {
  const answer = await send('GET', `/v1/audit-log${query}`, token);
  expect(answer.status).toBe(200);
  return ((await answer.json()) as { entries: Wire[] }).entries;
}

/**
 * Returns what `work` adds to the log, oldest first. Waits for `count` entries, since a request
 * does not wait for a slow one.
 */
async function added(work: () => Promise<unknown>, count = 1): Promise<Wire[]> {
  const last = (await entries('?limit=1'))[0]?.id;
  await work();
  const fresh = async () => {
    const all = await entries('?limit=100');
    const at = all.findIndex(({ id }) => id === last);
    return all.slice(0, at === -1 ? undefined : at).reverse();
  };
  await expect.poll(async () => (await fresh()).length).toBeGreaterThanOrEqual(count);
  return fresh();
}

const recorded = ({ owner: { userId, tenantId, projectId } }: TestTenant) => ({
  ...{ userId, tenantId, projectId, patId: null, surface: 'rest' as const, operation: 'workflows_create' },
  ...{ action: null, target: { id: 'x' }, outcome: 'ok', requestId: 'r', clientAddress: null },
});

describe('what is recorded', () => {
  test('an operation that changes something, with the person, token, address and target', async () => {
    const [entry, ...others] = await added(() =>
      send('POST', '/v1/workflows', admin, { name: 'New', graph: { steps: [] } }),
    );
    expect(others).toEqual([]);
    const { owner } = acme;
    expect(entry).toEqual({
      id: expect.any(String),
      at: '2026-06-01T00:00:00.000Z',
      user: { id: owner.userId, name: owner.name, email: owner.email },
      token: { id: expect.any(String), name: 'test' },
      surface: 'rest',
      operation: 'workflows_create',
      action: null,
      target: { id: expect.any(String) },
      names: { id: 'New' },
      session: null,
      outcome: 'ok',
      project_id: owner.projectId,
      request_id: expect.any(String),
      client_address: '127.0.0.1',
    });
  });

  test('a command by its name, with the run that it was about', async () => {
    const start = { command: 'start' };
    const [started] = await added(() => send('POST', `/v1/workflows/${workflow}/command`, admin, start));
    const run = started?.target.run_id;
    expect(started).toMatchObject({ action: 'start', target: { id: workflow, run_id: expect.any(String) } });
    const stop = { command: 'stop', params: { run_id: run } };
    const [stopped] = await added(() => send('POST', `/v1/workflows/${workflow}/command`, admin, stop));
    expect(stopped).toMatchObject({ action: 'stop', target: { id: workflow, run_id: run } });
  });

  test('a call through MCP and tRPC, once each', async () => {
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call' };
    const params = { name: 'workflows_create', arguments: { name: 'By MCP', graph: { steps: [] } } };
    const headers = { Accept: 'application/json, text/event-stream', 'Content-Type': 'application/json' };
    const throughMcp = () =>
      fetch(`${service.url}/mcp`, {
        method: 'POST',
        headers: { ...headers, Authorization: `Bearer ${admin}` },
        body: JSON.stringify({ ...call, params }),
      }).then(answer => answer.text());
    expect(await added(throughMcp)).toMatchObject([{ surface: 'mcp', operation: 'workflows_create', outcome: 'ok' }]);
    const throughTrpc = () =>
      send('POST', '/api/trpc/workflows_create', admin, { name: 'By tRPC', graph: { steps: [] } });
    expect(await added(throughTrpc)).toMatchObject([{ surface: 'trpc', operation: 'workflows_create', outcome: 'ok' }]);
  });

  test('not the presence of an editor', async () => {
    const editors = `/v1/workflows/${workflow}/editors`;
    const rename = () => send('PATCH', `/v1/workflows/${workflow}`, admin, { name: 'Renamed' });
    const both = async () => {
      expect((await send('POST', editors, admin, {})).status).toBe(200);
      await rename();
    };
    expect(await added(both)).toMatchObject([{ operation: 'workflows_patch' }]);
  });

  test('an attempt without the right', async () => {
    const reader = await tokenOf('owner', ['workflow:read']);
    const viewer = await tokenOf('viewer', ['workflow:write']);
    const attempt = (token: string) => send('DELETE', `/v1/workflows/${workflow}`, token);
    expect(await added(() => attempt(reader))).toMatchObject([{ outcome: 'insufficient_scope', target: {} }]);
    expect(await added(() => attempt(viewer))).toMatchObject([{ outcome: 'insufficient_role' }]);
  });

  test('the acceptance of an invitation, although it had no credential', async () => {
    const invitation = { email: 'new@acme.example.com', role: 'project_viewer' };
    const invited = (await (await send('POST', '/v1/invitations', admin, invitation)).json()) as { token: string };
    const { token } = invited;
    const accept = { token, name: 'New', password: 'a long pass phrase' };
    const [entry] = await added(() => send('POST', '/v1/invitations/accept', null, accept));
    expect(entry).toMatchObject({ operation: 'invitations_accept', outcome: 'ok', user: { email: invitation.email } });
  });

  test('neither reads, nor refusals that changed nothing', async () => {
    const refused = async () => {
      const answers = await Promise.all([
        send('GET', '/v1/workflows', admin),
        send('POST', `/v1/workflows/${workflow}/validate`, admin, {}),
        send('POST', '/v1/workflows', admin, { name: 1 }),
        send('DELETE', `/v1/workflows/${newId()}`, admin),
        send('DELETE', `/v1/workflows/${workflow}`, 'nobody'),
      ]);
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 422, 404, 401]);
    };
    expect(await added(refused, 0)).toEqual([]);
  });

  test('once each, for concurrent operations', async () => {
    const create = (n: number) => send('POST', '/v1/workflows', admin, { name: `Many ${n}`, graph: { steps: [] } });
    const made = await added(() => Promise.all(Array.from({ length: 60 }, (_, n) => create(n))), 60);
    expect(made).toHaveLength(60);
    expect(new Set(made.map(entry => entry.target.id)).size).toBe(60);
  });

  test('starts, whose entries are written later together, before the log is read or the service has stopped', async () => {
    const { pool } = service.container.services;
    const start = () => send('POST', `/v1/workflows/${workflow}/command`, admin, { command: 'start' });
    const answers = await Promise.all(Array.from({ length: 30 }, start));
    const runs = await Promise.all(answers.map(async answer => ((await answer.json()) as { run_id: string }).run_id));
    const [newest] = runs.toSorted().reverse();
    expect(await entries(`?target=${newest}`)).toMatchObject([{ action: 'start', outcome: 'ok', surface: 'rest' }]);
    const late = await start();
    const { run_id } = (await late.json()) as { run_id: string };
    await settleAudit(service.container.services);
    const inserted = await pool.query(`SELECT FROM audit_entries WHERE target->>'run_id' = ANY($1)`, [
      [...runs, run_id],
    ]);
    expect(inserted.rowCount).toBe(31);
  });

  test('more entries than fit into one statement, once each', async () => {
    const { pool } = service.container.services;
    const request = newId();
    for (let n = 0; n < 1_201; n++)
      recordAuditLater(service.container.services, { ...recorded(acme), requestId: request });
    await settleAudit(service.container.services);
    const found = await pool.query('SELECT count(DISTINCT id)::int FROM audit_entries WHERE request_id = $1', [
      request,
    ]);
    expect(found.rows).toEqual([{ count: 1_201 }]);
    await pool.query('DELETE FROM audit_entries WHERE request_id = $1', [request]);
  });

  test('an entry that cannot be written does not undo the operation: the service logs it', async () => {
    const lines: string[] = [];
    const logger = pino({ level: 'error' }, { write: line => void lines.push(line) });
    const pool = new pg.Pool({ host: '127.0.0.1', port: 1 });
    await recordAudit({ pool, logger, clock }, recorded(acme));
    expect(lines.join('')).toContain('workflows_create');
    recordAuditLater({ pool, logger, clock }, { ...recorded(acme), operation: 'runs_rerun' });
    await settleAudit({ pool, logger, clock });
    expect(lines.join('')).toContain('runs_rerun');
    await pool.end();
  });
});

describe('reading it', () => {
  test('requires an administrator of the workspace, and shows only that workspace', async () => {
    const rival = await createTestTenant(service.container.services, { slug: 'rival' });
    const theirs = await tokenOf('owner', ['pat:manage', 'workflow:write'], rival);
    await send('POST', '/v1/workflows', theirs, { name: 'Theirs', graph: { steps: [] } });
    await expect.poll(async () => (await entries('', theirs)).map(e => e.operation)).toEqual(['workflows_create']);
    expect(await entries(`?user_id=${rival.owner.userId}`)).toEqual([]);
    for (const path of ['/v1/audit-log', '/v1/audit-log/export']) {
      const statuses = [
        (await send('GET', path, 'nobody')).status,
        (await send('GET', path, await tokenOf('contributor', ['pat:manage']))).status,
        (await send('GET', path, await tokenOf('owner', ['workflow:read']))).status,
      ];
      expect(statuses).toEqual([401, 403, 403]);
    }
  });

  test('is filtered by person, operation, target, outcome and time', async () => {
    clock.advance(DAY);
    const { token } = await createTestPat(service.container.services, acme.contributor, ['workflow:write']);
    const answer = await send('POST', '/v1/workflows', token, { name: 'Filtered', graph: { steps: [] } });
    const { id } = (await answer.json()) as { id: string };
    await send('DELETE', `/v1/workflows/${id}`, await tokenOf('contributor', ['workflow:read']));
    const names = async (query: string) => (await entries(query)).map(({ operation }) => operation);
    await expect.poll(() => names(`?user_id=${acme.contributor.userId}`)).toHaveLength(2);
    expect(await names(`?user_id=${acme.contributor.userId}`)).toEqual(['workflows_archive', 'workflows_create']);
    expect(await names(`?target=${id}`)).toEqual(['workflows_create']);
    expect(await names('?outcome=refused&from=2026-06-02T00:00:00Z')).toEqual(['workflows_archive']);
    expect(await names('?operation=workflows_create&from=2026-06-02T00:00:00Z')).toEqual(['workflows_create']);
    expect(await names('?from=2026-06-02T00:00:00.001Z')).toEqual([]);
    expect(await names(`?to=2026-06-02T00:00:00Z&user_id=${acme.contributor.userId}`)).toEqual([]);
  });

  test('goes page by page, newest first, and refuses an invalid cursor', async () => {
    const all = await entries('?limit=100');
    const ids: string[] = [];
    for (let cursor = ''; ; ) {
      const answer = await send('GET', `/v1/audit-log?limit=7${cursor}`, admin);
      const page = (await answer.json()) as { entries: Wire[]; next_cursor: string | null };
      ids.push(...page.entries.map(({ id }) => id));
      if (page.next_cursor === null || ids.length >= all.length) break;
      cursor = `&cursor=${page.next_cursor}`;
    }
    expect(ids.slice(0, all.length)).toEqual(all.map(({ id }) => id));
    expect(all.map(({ id }) => id)).toEqual(
      all
        .map(({ id }) => id)
        .sort()
        .reverse(),
    );
    for (const wrong of ['?cursor=x', '?outcome=maybe', '?user_id=me', '?from=yesterday', '?limit=0'])
      expect((await send('GET', `/v1/audit-log${wrong}`, admin)).status, wrong).toBe(422);
  });

  test('is downloaded as CSV, in which no cell is a formula', async () => {
    const answer = await send('GET', '/v1/audit-log/export?operation=workflows_execute_command', admin);
    expect(answer.headers.get('content-type')).toMatch(/^text\/csv;/);
    const [head = '', ...lines] = (await answer.text()).trim().split('\r\n');
    expect(head).toBe(
      'at,user_email,user_id,token,token_id,surface,operation,action,target,outcome,project_id,request_id,client_address,id',
    );
    expect(lines).toHaveLength(33);
    expect(lines.at(-2)).toContain(',workflows_execute_command,stop,');
  });
});
