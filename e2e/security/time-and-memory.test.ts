import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import type { RegisteredOperation } from '../../server/api/registry.ts';
import type { Principal } from '../../server/operation/context.ts';
import { hasRole, type Role, roles, scopes } from '../../server/orchestrator/ports/authority.ts';
import { createTestPat, createTestServices } from '../../server/testing/identity.ts';
import { startToolServer } from '../../server/testing/mcp-servers.ts';
import { createTestDatabase, type TestDatabase } from '../../server/testing/postgres.ts';
import { sign } from '../../server/testing/webhooks.ts';
import {
  connectFeatures,
  createWorld,
  fieldsOf,
  inWorld,
  type Name,
  pathIn,
  registry,
  type World,
} from '../../server/testing/world.ts';
import { rounds } from '../faults/random.ts';
import { Installation, type Service } from '../fixtures/service.ts';
import {
  ALL,
  EXTREME_DELIVERIES,
  EXTREME_DOCUMENTS,
  EXTREME_FRAMES,
  EXTREME_GRAPHS,
  EXTREME_WORKFLOWS,
  extremeBodies,
  extremeQueries,
  lengthOf,
  type Pieces,
  thirds,
} from './extreme-inputs.ts';

/**
 * The limits on the time and memory that any input of a contributor, a token or a webhook may cost. For every
 * operation, the largest and most repetitive inputs that its limits admit (extreme-inputs.ts) are sent to a process of
 * the service: a third of them, and with several rounds (`npm run faults -- e2e/security/time-and-memory.test.ts`) all.
 *
 * A response may take 2 s, and other callers may wait for at most 500 ms. Both are promises for an otherwise idle
 * machine, but tests run beside others. So the wait of other callers is measured as the CPU time that the service's
 * main thread used without a turn of its event loop in between (fixtures/preload.ts), and the time of a response is divided by the slowdown of the machine: the ratio of
 * time to CPU time of a fixed computation just after the response. A measurement beyond the limit is repeated once, with
 * the greater of the slowdowns before and after it.
 */
const MAX_RESPONSE_MS = 2_000;
const MAX_TURN_MS = 500;
/** The bytes that the caches of the orchestrator may keep (server/orchestrator/cache-limits.ts). */
const MAX_HEAP_GROWTH_BYTES = 160 * 1024 * 1024;
const MAX_RESPONSE_BYTES = 512 * 1024;

let db: TestDatabase;
let installation: Installation;
let service: Service;
let tools: Awaited<ReturnType<typeof startToolServer>>;
let world: World;
let token: string;
let heapBefore: number;

beforeAll(async () => {
  db = await createTestDatabase();
  tools = await startToolServer();
  installation = await Installation.create({
    DATABASE_URL: db.url,
    ...connectFeatures(tools.url),
    BATON_ALLOW_PRIVATE_NETWORK: '127.0.0.1/32',
    BATON_RATE_LIMIT_WRONG_CODES_PER_HOUR: '0',
  });
  service = await installation.launch();
  await service.until('ready');
  const services = createTestServices(db);
  world = await createWorld({ url: service.url, services }, tools.url, 'acme');
  ({ token } = await createTestPat(services, world.owner, scopes));
  const needed = new Set(closed.map(({ operation }) => (operation.access === 'public' ? null : operation.scope)));
  for (const scope of needed)
    for (const [role, principal] of Object.entries(principalsOf(world))) {
      const { token: narrow } = await createTestPat(services, principal, scope === null ? [] : [scope]);
      narrowTokens.set(`${role} ${scope}`, narrow);
    }
  await send('GET', '/v1/me');
  heapBefore = (await service.measure({ collectGarbage: true })).heapBytes;
}, 120_000);

afterAll(async () => {
  agent.destroy();
  await installation[Symbol.asyncDispose]();
  await tools[Symbol.asyncDispose]();
  await db.close();
});

type Answer = { status: number; bytes: number; ms: number };

/** Not `fetch`, which takes several times the CPU for a megabyte, because it copies it into a stream. */
const agent = new Agent({ keepAlive: true, maxSockets: 1 });

async function send(
  method: string,
  path: string,
  body?: string | Pieces,
  bearer = token,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const pieces = typeof body === 'string' ? [Buffer.from(body)] : body;
  const began = performance.now();
  const sent = request(service.url + path, {
    agent,
    method,
    headers: {
      Authorization: `Bearer ${bearer}`,
      'Content-Type': 'application/json',
      'Accept-Encoding': 'gzip',
      ...(pieces !== undefined && { 'Content-Length': lengthOf(pieces) }),
      ...headers,
    },
    signal: AbortSignal.timeout(30_000),
  });
  // A body that is refused before all of it has been sent causes this error.
  sent.on('error', () => undefined);
  for (const piece of pieces ?? []) sent.write(piece);
  sent.end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const bytes = await sizeOf(response);
  return { status: response.statusCode ?? 0, bytes, ms: performance.now() - began };
}

/** Returns the bytes of an answer. Returns 0 for a stream, which may have no end and is closed as soon as it has begun. */
async function sizeOf(response: IncomingMessage): Promise<number> {
  if (response.headers['content-type']?.startsWith('text/event-stream') === true) {
    response.destroy();
    return 0;
  }
  const read = await buffer(response);
  return response.headers['content-encoding'] === 'gzip' ? gunzipSync(read).byteLength : read.byteLength;
}

/** Returns how much longer than its CPU time a computation takes at the moment. */
function slowdown(): number {
  const before = process.cpuUsage();
  const began = performance.now();
  while (process.cpuUsage(before).user < 30_000);
  return Math.max(1, (performance.now() - began) / 30);
}

type Cost = Answer & { turnMs: number };

/** Measures a request. `slowBefore`: the slowdown of the machine just before. */
async function costOf(request: Parameters<typeof send>, slowBefore = 1): Promise<Cost> {
  const answer = await send(...request);
  const { turnMs } = await service.measure();
  const isQuick = answer.ms < MAX_RESPONSE_MS;
  return { ...answer, turnMs, ms: isQuick ? answer.ms : answer.ms / Math.max(slowBefore, slowdown()) };
}

/** Sends a request, and throws if it costs too much twice. */
async function expectCheap(what: string, ...request: Parameters<typeof send>): Promise<Cost> {
  const isCheap = ({ ms, turnMs }: Cost) => ms < MAX_RESPONSE_MS && turnMs < MAX_TURN_MS;
  let cost = await costOf(request);
  if (!isCheap(cost)) cost = await costOf(request, slowdown());
  const shown = `${what}: ${JSON.stringify(cost)}`;
  expect(isCheap(cost), shown).toBe(true);
  expect(cost.status, shown).not.toBe(500);
  expect(cost.bytes, shown).toBeLessThan(MAX_RESPONSE_BYTES);
  return cost;
}

const principalsOf = ({ owner, contributor, viewer }: World): Record<Role, Principal> => ({
  tenant_admin: owner,
  project_contributor: contributor,
  project_viewer: viewer,
});
/** Tokens by role and scope; each token has only that scope. */
const narrowTokens = new Map<string, string>();

/**
 * Sends the input at `place` among those of an operation: with the owner's token, which has every scope; and with a token that has only the
 * operation's scope, of one permitted role, each role in turn. If the operation's work depends on further scopes, tokens of all permitted
 * roles send the input, unless it is malformed: that does not depend on the caller. With several rounds (`npm run faults --
 * e2e/security/time-and-memory.test.ts`) they send even malformed inputs.
 */
async function sendAsEach(
  { operation }: RegisteredOperation,
  place: number,
  sendAs: (bearer: string) => Promise<Cost>,
): Promise<void> {
  const { status } = await sendAs(token);
  if (operation.access === 'public') return;
  const { access, scope, scopesWhere = [] } = operation;
  const allowed = roles.filter(role => hasRole(role, access)).map(role => narrowTokens.get(`${role} ${scope}`) ?? '');
  const isMalformed = status === 400 || status === 422;
  const isForAll = scopesWhere.length > 0 && (rounds > 1 || !isMalformed);
  for (const bearer of isForAll ? allowed : allowed.slice(place, place + 1)) await sendAs(bearer);
}

const select = rounds > 1 ? ALL : thirds();

const closed = registry.operations.filter(({ operation }) => operation.access !== 'public');
const withName = (entry: RegisteredOperation) => [entry.operation.name, entry] as const;

describe('the extremes of', () => {
  test.each(closed.filter(({ carrier }) => carrier === 'body').map(withName))('a body of %s', async (name, entry) => {
    const valid = inWorld(fieldsOf(name as Name), world.ids);
    let place = 0;
    for (const [field, body] of extremeBodies(entry, valid, select)) {
      const what = `${name}.${field} ${body.map(piece => piece.toString('utf8', 0, 50)).join('…')}`;
      const path = pathIn(entry, world.ids);
      await sendAsEach(entry, place, bearer => expectCheap(what, entry.operation.method, path, body, bearer));
      place += 1;
    }
  });

  test.each(closed.filter(({ operation }) => operation.method === 'GET').map(withName))(
    'a query of %s',
    async (name, entry) => {
      for (const [place, [field, query]] of select(extremeQueries(entry)).entries()) {
        const path = `${pathIn(entry, world.ids)}?${query}`;
        await sendAsEach(entry, place, bearer => expectCheap(`${name}?${field}`, 'GET', path, undefined, bearer));
      }
    },
  );
});

describe('documents', () => {
  const workflow = () => `/v1/workflows/${world.ids['workflows/id']}`;

  test.each(EXTREME_GRAPHS)('a graph with %s', async (what, steps) => {
    const { status } = await expectCheap(what, 'POST', `${workflow()}/validate`, JSON.stringify({ graph: { steps } }));
    expect([200, 422]).toContain(status);
  });

  test.each(EXTREME_WORKFLOWS)('a workflow with %s', async (what, fields) => {
    const body = JSON.stringify({ name: 'Wrong', ...fields() });
    expect((await expectCheap(what, 'POST', '/v1/workflows', body)).status).toBe(422);
  });

  test.each(EXTREME_DOCUMENTS)('an import of %s', async (what, document) => {
    const { status } = await expectCheap(what, 'POST', '/v1/workflows/import', JSON.stringify({ document }));
    expect(status).toBe(422);
  });
});

describe('other surfaces', () => {
  const wide = `[${'{},'.repeat(340_000)}{}]`;
  test.each([
    ['an MCP batch', '/mcp', wide],
    [
      'an MCP call',
      '/mcp',
      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"workflows_list","arguments":{"query":${wide}}}}`,
    ],
    ['a tRPC batch', `/api/trpc/${'workflows_create,'.repeat(400)}x?batch=1`, wide],
    ['a tRPC input', '/api/trpc/workflows_create', wide],
    // Only the last byte of these endless bodies shows that they are malformed, so the parser has to read all of each.
    ['lists, one of which ends', '/v1/workflows', `${'['.repeat(wide.length)}]`],
    ['lists without end in a field', '/v1/workflows', `{"name":${'['.repeat(wide.length)}}`],
  ])('%s', async (what, path, body) => {
    await expectCheap(what, 'POST', path, body);
  });

  test('a webhook delivery', async () => {
    const path = `/v1/inbound-webhooks/${world.ids['inbound-webhooks/id']}`;
    for (const body of [wide.slice(0, 250_000), '['.repeat(250_000)]) await expectCheap('webhook', 'POST', path, body);
  });

  test('a signed webhook delivery', async () => {
    const fields = { workflow_id: world.ids['workflows/id'], name: 'Extremes' };
    const made = await fetch(`${service.url}/v1/inbound-webhooks`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(fields),
    });
    const { ingress_path: path, signing_secret: secret } = (await made.json()) as Record<string, string>;
    const bodies = [...EXTREME_DELIVERIES, `[${'{},'.repeat(80_000)}{}]`, '['.repeat(250_000), '"'.repeat(250_000)];
    const statuses = new Set<number>();
    for (const body of bodies)
      for (const bearer of [token, narrowTokens.get('project_contributor workflow:run') ?? '']) {
        const signed = { 'X-Service-Signature': sign(secret ?? '', body) };
        const what = `delivery ${body.slice(0, 60)}`;
        statuses.add((await expectCheap(what, 'POST', path ?? '', body, bearer, signed)).status);
      }
    expect(statuses).toEqual(new Set([202, 400]));
  });

  test.each(roles)('frames of a stream of a %s', async role => {
    const bearer = narrowTokens.get(`${role} workflow:read`) ?? '';
    const url = `${service.url.replace('http', 'ws')}/v1/workflows/${world.ids['workflows/id']}/stream`;
    for (const [what, frames] of EXTREME_FRAMES) {
      const socket = new WebSocket(url, { headers: { Authorization: `Bearer ${bearer}` } });
      await once(socket, 'message');
      await service.measure();
      const ended = once(socket, 'close');
      socket.on('error', () => undefined);
      frames(socket);
      // The server answers a ping after all earlier frames, unless it has closed the connection by then.
      if (socket.readyState === WebSocket.OPEN) socket.ping();
      await Promise.race([once(socket, 'pong'), ended]);
      const { turnMs } = await service.measure();
      expect([what, turnMs < MAX_TURN_MS], `${what}: ${turnMs} ms`).toEqual([what, true]);
      socket.terminate();
    }
    expect(service.alive).toBe(true);
  });
});

test('the memory has returned to its earlier size', async () => {
  expect(service.alive).toBe(true);
  const { heapBytes } = await service.measure({ collectGarbage: true });
  expect(heapBytes - heapBefore).toBeLessThan(MAX_HEAP_GROWTH_BYTES);
});
