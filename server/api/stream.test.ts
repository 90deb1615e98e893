import { once } from 'node:events';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type ClientOptions, WebSocket } from 'ws';
import type { Principal } from '../operation/context.ts';
import { createRequestLimiter } from '../operation/rate-limits.ts';
import type { Scope } from '../orchestrator/ports/authority.ts';
import { type Alarm, ManualClock } from '../platform/clock.ts';
import { newId } from '../platform/ids.ts';
import { sessionCookieOf, startTestApi, type TestApi } from '../testing/api.ts';
import {
  type FeedScope,
  insertRun as insertRunOf,
  insertWorkflow as insertWorkflowOf,
  liveEvent,
  TestFeed,
} from '../testing/event-feed.ts';
import {
  createTestPat,
  createTestServices,
  createTestTenant,
  type TestTenant,
  testConfig,
} from '../testing/identity.ts';
import { createTestDatabase, type TestDatabase } from '../testing/postgres.ts';

let db: TestDatabase;
let api: TestApi;
let tenant: TestTenant;
let other: TestTenant;
let token: string;
let workflowId: string;
const source = new TestFeed();
const sockets: WebSocket[] = [];

const orchestrator = source.orchestrator();
const services = (overrides = {}) => createTestServices(db, { orchestrator, ...overrides });

const insertWorkflow = (scope: FeedScope) => insertWorkflowOf(db, scope);
const insertRun = (count: number, workflow = workflowId) =>
  insertRunOf(db, { ...scopeOf(tenant), workflowId: workflow }, count);
const scopeOf = ({ tenantId, projectId }: FeedScope): FeedScope => ({ tenantId, projectId });
const liveItem = (runId: string, seq: number, lines = ['live'], workflow = workflowId) =>
  liveEvent({ ...scopeOf(tenant), workflowId: workflow, runId }, seq, lines);

beforeAll(async () => {
  db = await createTestDatabase();
  tenant = await createTestTenant(services(), { slug: 'acme' });
  other = await createTestTenant(services(), { slug: 'other' });
  token = (await createTestPat(services(), tenant.viewer, ['workflow:read'])).token;
  workflowId = await insertWorkflow(tenant);
  api = await startTestApi(services(), [], { stream: { recheckEveryMs: 20 } });
});
afterEach(() => {
  source.onSubscribe = () => undefined;
  for (const socket of sockets.splice(0)) socket.terminate();
});
afterAll(async () => {
  await api.close();
  await db.close();
});

type Frame = { type: string; event?: { seq: number; event_type: string; run_id: string; data: unknown } };
type Client = { socket: WebSocket; next: () => Promise<Frame>; closed: Promise<number>; frames: Frame[] };

/** Opens a stream with the viewer's token, unless `options` carry another credential. Rejects with the refused status. */
async function open(
  query = '',
  options: ClientOptions & { protocols?: string[]; workflow?: string; at?: TestApi } = {},
): Promise<Client> {
  const { protocols = [], workflow = workflowId, at = api, ...rest } = options;
  const url = `${at.url.replace('http', 'ws')}/v1/workflows/${workflow}/stream${query}`;
  const own: Record<string, string> = protocols.length > 0 ? {} : { Authorization: `Bearer ${token}` };
  const headers = rest.headers ?? own;
  const socket = new WebSocket(url, protocols, { ...rest, headers });
  sockets.push(socket);
  const frames: Frame[] = [];
  const waiting: ((frame: Frame) => void)[] = [];
  socket.on('message', data => {
    const frame: Frame = JSON.parse(String(data));
    const taker = waiting.shift();
    if (taker) taker(frame);
    else frames.push(frame);
  });
  const closed = new Promise<number>(resolve => socket.once('close', resolve));
  await new Promise<void>((resolve, reject) => {
    socket.once('open', resolve);
    socket.once('error', reject);
    socket.once('unexpected-response', (_, response) => {
      let text = '';
      response.on('data', chunk => {
        text += chunk;
      });
      response.on('end', () => reject(Object.assign(new Error(text), { status: response.statusCode })));
    });
  });
  const next = () => {
    const frame = frames.shift();
    return frame ? Promise.resolve(frame) : new Promise<Frame>(resolve => waiting.push(resolve));
  };
  return { socket, next, closed, frames };
}
const refusal = (opening: Promise<unknown>) =>
  opening.then(
    () => expect.unreachable('the stream was opened'),
    (error: Error & { status: number }) => ({ status: error.status, body: JSON.parse(error.message) }),
  );
describe('opening', () => {
  test('with a token in the header or among the protocols', async () => {
    expect(await (await open()).next()).toEqual({ type: 'ready' });
    const browser = await open('', { protocols: ['bearer', token] });
    expect(browser.socket.protocol).toBe('bearer');
    expect(await browser.next()).toEqual({ type: 'ready' });
  });

  test('with a cookie, from our own origin only', async () => {
    const Cookie = await sessionCookieOf(tenant.viewer);
    expect(await (await open('', { headers: { Cookie, Origin: api.url } })).next()).toEqual({ type: 'ready' });
    const foreign = await refusal(open('', { headers: { Cookie, Origin: 'https://evil.example' } }));
    expect(foreign).toMatchObject({ status: 403, body: { code: 'cross_site' } });
    expect((await refusal(open('', { headers: { Cookie } }))).status).toBe(403);
  });

  test('without a valid credential is 401 with the body of every error', async () => {
    const attempts: Record<string, string>[] = [{}, { Authorization: 'Bearer pat_x' }];
    for (const headers of attempts) {
      expect(await refusal(open('', { headers }))).toMatchObject({
        status: 401,
        body: { error: expect.any(String), code: 'unauthenticated', request_id: expect.any(String) },
      });
    }
  });

  test('without the scope is 403', async () => {
    const { token: runner } = await createTestPat(services(), tenant.contributor, ['workflow:run']);
    expect((await refusal(open('', { headers: { Authorization: `Bearer ${runner}` } }))).status).toBe(403);
  });

  test("another tenant's workflow, an unknown one and a malformed id are 404", async () => {
    const foreign = await insertWorkflow(other);
    for (const workflow of [foreign, newId(), 'nope']) {
      expect((await refusal(open('', { workflow }))).status).toBe(404);
    }
  });

  test.each(['?after=1', '?run_id=nope', '?nope=1', `?run_id=${newId()}&after=-1`, `?run_id=${newId()}&after=`])(
    '%s is 422',
    async query => {
      expect((await refusal(open(query))).status).toBe(422);
    },
  );

  test('is 503 if another process leads, since no event would ever arrive', async () => {
    const standby = { ...orchestrator, leads: () => false };
    const at = await startTestApi(services({ orchestrator: standby }), []);
    try {
      expect(await refusal(open('', { at }))).toMatchObject({ status: 503, body: { code: 'not_leading' } });
    } finally {
      await at.close();
    }
  });

  test('over the limits is 429', async () => {
    // The minute of this limiter never ends.
    const limits = { principal: 1, address: 1, signIn: 1, wrongCodes: 1 };
    const rateLimiter = createRequestLimiter(limits, new ManualClock());
    const strict = await startTestApi(services({ rateLimiter }), []);
    await open('', { at: strict });
    expect(await refusal(open('', { at: strict }))).toMatchObject({ status: 429, body: { code: 'rate_limited' } });
    await strict.close();
  });
});

describe('open streams are limited', () => {
  const as = (token: string) => ({ headers: { Authorization: `Bearer ${token}` } });
  const patOf = async (principal: Principal) => (await createTestPat(services(), principal, ['workflow:read'])).token;
  const limited = (env: Record<string, string>) => startTestApi(services({ config: testConfig(env) }), []);

  test('per person, regardless of the token, and closed streams no longer count', async () => {
    const at = await limited({ BATON_MAX_STREAMS_PER_USER: '2' });
    const [one, two, others] = [token, await patOf(tenant.viewer), await patOf(tenant.contributor)];
    const first = await open('', { at, ...as(one) });
    await open('', { at, ...as(two) });
    for (const mine of [one, two]) {
      const refused = await refusal(open('', { at, ...as(mine) }));
      expect(refused).toMatchObject({ status: 429, body: { code: 'too_many_streams' } });
    }
    await open('', { at, ...as(others) });
    first.socket.terminate();
    await expect
      .poll(() =>
        open('', { at, ...as(two) }).then(
          () => 101,
          refused => refused.status,
        ),
      )
      .toBe(101);
    await at.close();
  });

  test('per workspace, regardless of the person', async () => {
    const at = await limited({ BATON_MAX_STREAMS_PER_TENANT: '2' });
    await open('', { at });
    await open('', { at, ...as(await patOf(tenant.contributor)) });
    const refused = await refusal(open('', { at, ...as(await patOf(tenant.owner)) }));
    expect(refused).toMatchObject({ status: 429, body: { error: expect.stringContaining('workspace') } });
    const workflow = await insertWorkflow(other);
    await open('', { at, workflow, ...as(await patOf(other.viewer)) });
    await at.close();
  });

  test('and refused streams do not count', async () => {
    const at = await limited({ BATON_MAX_STREAMS_PER_USER: '1' });
    for (let n = 0; n < 3; n++) expect((await refusal(open('', { at, workflow: newId() }))).status).toBe(404);
    await open('', { at });
    await at.close();
  });
});

describe('events', () => {
  test('arrive as they are committed, only of this workflow', async () => {
    const client = await open();
    await client.next();
    const run = newId();
    source.publish([liveItem(run, 1, ['a'], await insertWorkflow(tenant)), liveItem(run, 2, ['b'])]);
    expect(await client.next()).toEqual({
      type: 'event',
      event: {
        seq: 2,
        event_type: 'step_log',
        run_id: run,
        workflow_id: workflowId,
        step_id: 'a',
        attempt: 1,
        data: { lines: ['b'] },
        created_at: '1970-01-01T00:00:00.000Z',
      },
    });
  });

  test('of every size of frame arrive complete and in order at every client', async () => {
    const runId = newId();
    const clients = [await open(), await open(), await open(`?run_id=${runId}`)];
    for (const client of clients) await client.next();
    // Lengths on both sides of the 7, 16 and 64 bit forms; `é` is two bytes.
    const texts = ['', 'é'.repeat(40), 'x'.repeat(125), 'é'.repeat(300), 'x'.repeat(65_500), 'é'.repeat(40_000)];
    const items = texts.map((text, at) => liveItem(runId, at + 1, [text]));
    source.publish(items);
    source.publish([liveItem(runId, texts.length + 1, ['after'])]);
    for (const client of clients) {
      for (const [at, text] of [...texts, 'after'].entries()) {
        expect((await client.next()).event).toMatchObject({ seq: at + 1, data: { lines: [text] } });
      }
    }
  });

  test('a ping between frames finds its place', async () => {
    const client = await open();
    await client.next();
    const ponged = new Promise(resolve => client.socket.once('pong', resolve));
    const runId = newId();
    source.publish([liveItem(runId, 1), liveItem(runId, 2)]);
    client.socket.ping();
    await ponged;
    source.publish([liveItem(runId, 3)]);
    for (const seq of [1, 2, 3]) expect((await client.next()).event?.seq).toBe(seq);
  });

  test('a refused start is streamed', async () => {
    const client = await open();
    await client.next();
    const item = { runId: newId(), tenantId: tenant.tenantId, projectId: tenant.projectId, workflowId, at: 0 };
    source.publish([{ kind: 'rejected', item: { ...item, code: 'invalid_input', message: 'No.' } }]);
    expect((await client.next()).event).toMatchObject({
      seq: 1,
      event_type: 'run_rejected',
      data: { code: 'invalid_input', message: 'No.' },
    });
  });

  test('another project of the tenant is not shown', async () => {
    const client = await open();
    await client.next();
    const mine = liveItem(newId(), 1);
    const theirs = liveItem(newId(), 1);
    theirs.item.projectId = newId();
    source.publish([theirs, mine]);
    expect((await client.next()).event?.run_id).toBe(mine.item.runId);
  });

  test('a replay is followed by `ready` and the live events, without gap or duplicate', async () => {
    const run = await insertRun(250);
    // Committed during the replay: once already in the log, once beyond it.
    source.onSubscribe = () => source.publish([liveItem(run, 250), liveItem(run, 251)]);
    const client = await open(`?run_id=${run}&after=3`);
    const seqs: unknown[] = [];
    for (let index = 0; index < 249; index++) {
      const frame = await client.next();
      seqs.push(frame.event?.seq ?? frame.type);
    }
    expect(seqs).toEqual([...Array.from({ length: 247 }, (_, index) => index + 4), 'ready', 251]);
    source.publish([liveItem(run, 251), liveItem(run, 252)]);
    expect((await client.next()).event?.seq).toBe(252);
  });

  test('a gap in the feed, or its interruption, sends the client back to the log with 1012', async () => {
    const run = await insertRun(2);
    const gapped = await open(`?run_id=${run}&after=1`);
    expect([(await gapped.next()).event?.seq, (await gapped.next()).type]).toEqual([2, 'ready']);
    source.publish([liveItem(run, 4)]);
    expect(await gapped.closed).toBe(1012);
    expect(gapped.frames).toEqual([]);
    const interrupted = await open(`?run_id=${run}&after=2`);
    const all = await open();
    expect([(await interrupted.next()).type, (await all.next()).type]).toEqual(['ready', 'ready']);
    source.interrupt();
    expect(await Promise.all([interrupted.closed, all.closed])).toEqual([1012, 1012]);
  });

  test('a replay shows nothing of another workflow under this one', async () => {
    const run = await insertRun(2, await insertWorkflow(tenant));
    expect(await (await open(`?run_id=${run}&after=0`)).next()).toEqual({ type: 'ready' });
  });

  test('the replay of a refused start is its one event', async () => {
    const run = newId();
    const row = { runId: run, tenantId: tenant.tenantId, projectId: tenant.projectId, workflowId };
    await db.prisma.runRejection.create({
      data: { ...row, code: 'no_published_version', message: 'None.', createdAt: new Date(0) },
    });
    const client = await open(`?run_id=${run}&after=0`);
    expect((await client.next()).event?.event_type).toBe('run_rejected');
    expect((await client.next()).type).toBe('ready');
  });

  test('a small message of a client is ignored, and a large one ends the stream', async () => {
    const client = await open();
    await client.next();
    client.socket.send('hello');
    source.publish([liveItem(newId(), 1)]);
    expect((await client.next()).type).toBe('event');
    client.socket.send('x'.repeat(5000));
    expect(await client.closed).toBe(1009);
  });
});

describe('closing', () => {
  test('a client that does not read is closed with 4008, and its subscription ends', async () => {
    const client = await open();
    await client.next();
    const before = source.size;
    client.socket.pause();
    const lines = ['x'.repeat(1024 * 1024)];
    // More than the buffers of the system and our own bound together.
    for (let seq = 1; seq <= 64; seq++) source.publish([liveItem(newId(), seq, lines)]);
    client.socket.resume();
    expect(await client.closed).toBe(4008);
    await expect.poll(() => source.size).toBe(before - 1);
  });

  const revocations: [string, (principal: Principal, scopes: readonly Scope[]) => Promise<unknown>][] = [
    [
      'a revoked token',
      ({ userId }) => db.pool.query('UPDATE pats SET revoked_at = now() WHERE user_id = $1', [userId]),
    ],
    ['a lost role', ({ userId }) => db.pool.query('DELETE FROM project_members WHERE user_id = $1', [userId])],
    ['a removed member', ({ userId }) => db.pool.query('DELETE FROM memberships WHERE user_id = $1', [userId])],
  ];
  test.each(revocations)('%s closes with 4003', async (_, revoke) => {
    const { contributor } = await createTestTenant(services(), { slug: `t-${newId().slice(-8)}` });
    const own = await createTestPat(services(), contributor, ['workflow:read']);
    const workflow = await insertWorkflow(contributor);
    const client = await open('', { workflow, headers: { Authorization: `Bearer ${own.token}` } });
    const bystander = await open();
    await revoke(contributor, []);
    expect(await client.closed).toBe(4003);
    expect(bystander.socket.readyState).toBe(WebSocket.OPEN);
  });

  test('an ended session closes with 4003', async () => {
    const { owner } = await createTestTenant(services(), { slug: `t-${newId().slice(-8)}` });
    const workflow = await insertWorkflow(owner);
    const client = await open('', { workflow, headers: { Cookie: await sessionCookieOf(owner), Origin: api.url } });
    await db.pool.query('UPDATE users SET session_epoch = session_epoch + 1 WHERE id = $1', [owner.userId]);
    expect(await client.closed).toBe(4003);
  });

  test('a peer that answers no ping is cut off', async () => {
    let ring: () => void = () => undefined;
    const alarm: Alarm = (_, next) => {
      ring = next;
      return () => undefined;
    };
    const at = await startTestApi(services(), [], { stream: { alarm } });
    const dead = await open('', { at, autoPong: false });
    const alive = await open('', { at });
    const pinged = Promise.all([once(dead.socket, 'ping'), once(alive.socket, 'ping')]);
    ring();
    await pinged;
    // The client's ping is answered before the server's own ping.
    alive.socket.ping();
    await once(alive.socket, 'pong');
    ring();
    expect(await dead.closed).toBe(1006);
    expect(alive.socket.readyState).toBe(WebSocket.OPEN);
    await at.close();
  });

  test('a shutdown closes with 1001', async () => {
    const at = await startTestApi(services(), []);
    const client = await open('', { at });
    await at.close();
    expect(await client.closed).toBe(1001);
  });
});
