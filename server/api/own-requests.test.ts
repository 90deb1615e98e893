import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newId } from '../platform/ids.ts';
import { LINEAGE_HEADER } from '../platform/lineage.ts';
import { freePort } from '../platform/postgres/free-port.ts';
import { createCall } from '../testing/call.ts';
import { startTestContainer, type TestContainer } from '../testing/container.ts';
import { createTestPat, createTestTenant, type TestTenant } from '../testing/identity.ts';
import { reached } from '../testing/runs.ts';
import { sign } from '../testing/webhooks.ts';
import { serveSurfaces } from './node-http.ts';
import { operations } from './operations.ts';

let service: TestContainer;
let server: Server;
let origin: string;
let acme: TestTenant;
let globex: TestTenant;
let token: string;
let call: ReturnType<typeof createCall<typeof operations>>;

beforeAll(async () => {
  const port = await freePort();
  origin = `http://127.0.0.1:${port}`;
  const env = { BATON_ALLOW_PRIVATE_NETWORK: '127.0.0.1', BATON_SHUTDOWN_GRACE_S: '0', BATON_MAX_DESCENDANTS: '30' };
  service = await startTestContainer({ ...env, BATON_MCP_GROUPS: 'core,workflows', PORT: String(port) });
  server = createServer((request, response) => {
    void (serveSurfaces(service.container, request, response, 0) ?? response.writeHead(404).end());
  });
  await once(server.listen(port, '127.0.0.1'), 'listening');
  const { services } = service.container;
  acme = await createTestTenant(services, { slug: 'acme' });
  globex = await createTestTenant(services, { slug: 'globex' });
  token = await tokenOf(acme);
  call = createCall(services, operations);
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await service.close();
});

const tokenOf = async (tenant: TestTenant) =>
  (await createTestPat(service.container.services, tenant.contributor, ['workflow:run', 'mcp:execute'])).token;
type Made = { id: string } & Record<string, string>;
const act = (name: (typeof operations)[number]['name'], input: object, as = acme) =>
  call(as.contributor, name, input) as Promise<Made>;

async function connect(bearer = token, as = acme): Promise<string> {
  const credentials = { token: bearer };
  const given = { display_name: 'Own', provider: 'custom', service: 'api_key', credentials, origins: [origin] };
  return (await act('connections_create', given, as)).id;
}
/** Publishes a workflow with these steps, which may contain the workflow's id. */
async function publish(stepsOf: (id: string) => object[], as = acme): Promise<string> {
  const { id } = await act('workflows_create', { name: `W ${newId()}`, graph: { steps: [] } }, as);
  await act('workflows_patch', { id, graph: { steps: stepsOf(id) } }, as);
  await act('workflows_publish_version', { id }, as);
  return id;
}
const post = (url: string, connection_id: string, more: object) => ({
  id: 'send',
  type: 'http_request',
  method: 'POST',
  url,
  connection_id,
  on_error: 'continue',
  retry_count: 0,
  ...more,
});
const command = { command: 'start', params: {} };

type Started = { id: string; depth: number; root: string; workflow: string };
/**
 * Starts the workflow and waits until all runs have ended: a run that another run's request starts exists before that other run
 * ends. Returns the runs in the order of their start.
 */
async function generations(id: string): Promise<Started[]> {
  const { run_id: runID = '' } = await act('workflows_execute_command', { id, ...command });
  await reached(service.container.services, acme.contributor, { id, runID });
  for (;;) {
    const { rows } = await service.db.pool.query<Started & { open: boolean }>(
      `SELECT r.id, r.workflow_id AS workflow, r.ended_at IS NULL AS open,
              coalesce((e.data->'beneath'->>'depth')::int, 0) AS depth,
              coalesce(e.data->'beneath'->>'root_run_id', r.id::text) AS root
         FROM runs r JOIN run_events e ON e.run_id = r.id AND e.seq = 1
        WHERE r.started_at >= (SELECT started_at FROM runs WHERE id = $1) ORDER BY depth, r.id`,
      [runID],
    );
    if (rows.every(({ open }) => !open)) return rows;
    await new Promise(resolve => setImmediate(resolve));
  }
}
/** The error of the request of a run. */
async function refusalIn(runId: string): Promise<unknown> {
  const { rows } = await service.db.pool.query<{ error: unknown }>(
    `SELECT data->'error' AS error FROM run_events WHERE run_id = $1 AND event_type = 'step_failed'`,
    [runId],
  );
  return JSON.stringify(rows[0]?.error ?? null);
}

describe('a workflow that starts itself by a request to this service', () => {
  test('ends after eight requests over REST', async () => {
    const connection = await connect();
    const id = await publish(self => [post(`${origin}/v1/workflows/${self}/command`, connection, { body: command })]);
    const runs = await generations(id);
    expect(runs.map(({ depth }) => depth)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
    expect(new Set(runs.map(({ root }) => root))).toEqual(new Set([runs[0]?.id]));
    expect(await refusalIn(runs[8]?.id ?? '')).toContain('calls_too_deep');
  });

  test('ends after eight requests to /mcp', async () => {
    const connection = await connect();
    const id = await publish(self => [
      post(`${origin}/mcp`, connection, {
        headers: { accept: 'application/json, text/event-stream' },
        body: {
          jsonrpc: '2.0',
          id: 1,
          method: 'tools/call',
          params: { name: 'workflows_execute_command', arguments: { id: self, ...command } },
        },
      }),
    ]);
    const runs = await generations(id);
    expect(runs.map(({ depth }) => depth)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
  });

  test('ends after eight calls of its own tool', async () => {
    const granted = ['workflow:read', 'workflow:run', 'mcp:execute'] as const;
    const connection = await connect(
      (await createTestPat(service.container.services, acme.contributor, granted)).token,
    );
    const id = await publish(() => [
      post(`${origin}/mcp`, connection, {
        headers: { accept: 'application/json, text/event-stream' },
        body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'itself' } },
      }),
    ]);
    await act('workflows_edit', { id, edits: [{ type: 'update_graph', set: { tool: { name: 'itself' } } }] });
    await act('workflows_publish_version', { id });
    const runs = await generations(id);
    expect(runs.map(({ depth }) => depth)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
    expect(new Set(runs.map(({ root }) => root))).toEqual(new Set([runs[0]?.id]));
  });

  test('by a delivery to its webhook starts runs beneath the run that sent it', async () => {
    const connection = await connect();
    const body = '{"n":1}';
    const id = await publish(() => [{ id: 'later', type: 'lua_script', script: 'return 1' }]);
    const { ingress_url = '', signing_secret = '' } = await act('webhooks_create', { workflow_id: id, name: 'Own' });
    const send = post(new URL(new URL(ingress_url).pathname, origin).href, connection, {
      headers: { 'X-Service-Signature': sign(signing_secret, body) },
      body: { n: 1 },
    });
    await act('workflows_patch', { id, graph: { steps: [send] } });
    await act('workflows_publish_version', { id });
    // One signature identifies one delivery, so the second run's delivery is the same as the first one's.
    const [first, second, ...others] = await generations(id);
    expect([first?.depth, second?.depth, others]).toEqual([0, 1, []]);
    expect(second?.root).toBe(first?.id);
  });

  test('several times reaches the limit of runs before the limit of depth', async () => {
    const connection = await connect();
    const id = await publish(self =>
      ['a', 'b', 'c'].map(step => ({
        ...post(`${origin}/v1/workflows/${self}/command`, connection, { body: command }),
        id: step,
      })),
    );
    const runs = await generations(id);
    expect(runs).toHaveLength(31);
    expect(new Set(runs.map(({ root }) => root)).size).toBe(1);
  });
});

describe('two workspaces that start runs of each other', () => {
  test('end after eight requests, and get no id of the other workspace', async () => {
    const [mine, theirs] = [await publish(() => LEAF), await publish(() => LEAF, globex)];
    const [toTheirs, toMine] = [await connect(await tokenOf(globex)), await connect(token, globex)];
    const steps = (to: string, by: string) => [post(`${origin}/v1/workflows/${to}/command`, by, { body: command })];
    await act('workflows_patch', { id: mine, graph: { steps: steps(theirs, toTheirs) } });
    await act('workflows_patch', { id: theirs, graph: { steps: steps(mine, toMine) } }, globex);
    await act('workflows_publish_version', { id: mine });
    await act('workflows_publish_version', { id: theirs }, globex);
    const runs = await generations(mine);
    expect(runs.map(({ depth }) => depth)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
    const ids = new Set(runs.filter(({ workflow }) => workflow === mine).map(({ id }) => id));
    for (const { root, workflow } of runs) if (workflow === theirs) expect(ids).not.toContain(root);
  });
});
const LEAF = [{ id: 'later', type: 'lua_script', script: 'return 1' }];

describe('the lineage header', () => {
  const startWith = async (header: string) => {
    const id = await publish(() => LEAF);
    const response = await fetch(`${service.url}/v1/workflows/${id}/command`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json', [LINEAGE_HEADER]: header },
      body: JSON.stringify(command),
    });
    const { run_id } = (await response.json()) as { run_id: string };
    expect(response.status).toBe(200);
    const { rows } = await service.db.pool.query(
      `SELECT data->'beneath' AS beneath FROM run_events WHERE run_id = $1 AND seq = 1`,
      [run_id],
    );
    return rows[0]?.beneath;
  };

  test('is ignored unless this service wrote it', async () => {
    const { lineage } = service.container.services;
    const root = newId();
    const genuine = lineage.seal({ tenantId: acme.tenantId, root, depth: 2 });
    expect(await startWith(genuine)).toEqual({ root_run_id: root, depth: 3 });
    for (const forged of ['', 'v1.x.y', `${genuine}x`, `${genuine}, ${genuine}`, genuine.replace('v1', 'v2')])
      expect(await startWith(forged), forged).toBe(null);
  });
});
