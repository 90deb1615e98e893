import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RegisteredOperation } from '../../server/api/registry.ts';
import { newId } from '../../server/platform/ids.ts';
import {
  fieldsOf,
  inWorld,
  type Name,
  parametersIn,
  pathIn,
  registry,
  startTestWorlds,
  type TestWorlds,
} from '../../server/testing/world.ts';

/** Attacks through the content of requests, on every operation (docs/security.md). */
let worlds: TestWorlds;
beforeAll(async () => {
  worlds = await startTestWorlds();
});
afterAll(() => worlds.close());

const all = registry.operations.map(entry => [entry.operation.name, entry] as const);
const closed = all.filter(([, { operation }]) => operation.access !== 'public');

/** Returns the number of rows of every table, which an injected statement would change and no refused request may change. */
async function rowCounts(): Promise<Record<string, number>> {
  const { rows } = await worlds.service.db.pool.query<{ name: string; count: string }>(
    `SELECT relname AS name, (xpath('/row/c/text()', query_to_xml('SELECT count(*) AS c FROM ' || quote_ident(relname), false, true, '')))[1]::text AS count
     FROM pg_class WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace AND NOT relispartition`,
  );
  return Object.fromEntries(rows.map(({ name, count }) => [name, Number(count)]));
}

describe('SQL', () => {
  // Each text has several injections: one of them would end any quoting that a statement uses.
  const payloads = [
    '\'; DROP TABLE users; -- "; DELETE FROM workflows; -- $$; SELECT pg_sleep(600); --',
    "') UNION SELECT token_hash, 'x' FROM pats; SELECT pg_sleep(600) --",
    "\\'; SELECT pg_sleep(600); -- %_\\ {'a':1}::jsonb",
  ];
  // A separate session that would see an injected pg_sleep still running.
  const sleeping =
    "SELECT count(*)::int AS n FROM pg_stat_activity WHERE query LIKE '%pg_sleep(600)%' AND state = 'active' AND pid <> pg_backend_pid() AND query NOT LIKE '%$%'";

  test.each(closed)('in every text of %s is text', async (_, entry) => {
    const { rival, rivalToken: token } = worlds;
    for (const payload of payloads) {
      for (const [field, request] of hostile(entry, rival.ids, payload)) {
        const { status, body } = await worlds.request(entry.operation.method, request.path, {
          token,
          body: request.body,
        });
        expect(status, `${field} ${payload}: ${JSON.stringify(body)}`).toBeLessThan(500);
      }
    }
  });

  test('nothing of it was executed', async () => {
    const { rows } = await worlds.service.db.pool.query<{ n: number }>(sleeping);
    expect(rows[0]?.n).toBe(0);
    const counts = await rowCounts();
    for (const table of ['users', 'pats', 'tenants', 'workflows']) expect(counts[table], table).toBeGreaterThan(1);
  });
});

type Hostile = { path: string; body?: Record<string, unknown> };

/** Returns the valid request with one of its texts replaced, for each path parameter, query parameter and body field. */
function hostile(entry: RegisteredOperation, ids: Record<string, string>, payload: string): [string, Hostile][] {
  const fields = inWorld(fieldsOf(entry.operation.name as Name), ids);
  const path = pathIn(entry, ids);
  const parameters = parametersIn(entry, ids);
  const isBody = entry.carrier === 'body';
  const withQuery = (more: Record<string, unknown>) =>
    `${path}?${new URLSearchParams({ ...fields, ...more } as Record<string, string>)}`;
  const found: [string, Hostile][] = [];
  for (const id of entry.pathParameters) {
    const odd = entry.operation.path.replace(/\{(\w+)\}/g, (_, name: string) =>
      name === id ? encodeURIComponent(payload) : (parameters.get(name) ?? ''),
    );
    found.push([id, { path: odd, ...(isBody && { body: fields }) }]);
  }
  const properties = Object.keys((entry.inputSchema.properties ?? {}) as object).filter(
    name => !entry.pathParameters.includes(name),
  );
  for (const name of properties) {
    // The operations that end a session and change a password have rules of their own.
    if (isBody) found.push([name, { path, body: { ...fields, [name]: payload } }]);
    else found.push([name, { path: withQuery({ [name]: payload }) }]);
  }
  return found;
}

/** Returns an answer without its timestamps, which differ between two answers. */
const withoutTimestamps = (body: unknown) => JSON.parse(JSON.stringify(body).replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'T'));

describe("another tenant's resource in a field of the body or the query", () => {
  /** For each field, the kind of object whose id it takes. */
  const references: Record<string, string> = {
    workflow_id: 'workflows/id',
    server_id: 'servers/id',
    instance_id: 'instances/id',
    connection_id: 'connections/connection_id',
    automation_pat_id: 'pats/id',
    profile_id: 'config-profiles/profile_id',
    run_id: 'runs/runID',
    // An agent is a special kind of workflow.
    agent_id: 'workflows/id',
    parent_id: 'messages/message_id',
    head_id: 'messages/message_id',
  };
  const fieldsWithIds = closed.flatMap(([name, entry]) =>
    Object.keys((entry.inputSchema.properties ?? {}) as object)
      .filter(field => field in references && !entry.pathParameters.includes(field))
      .map(field => [name, field, entry] as const),
  );

  test('there are such fields, and every field that ends in _id is known here', () => {
    // Names within a run or of a provider, ids that a client gives to its messages, and the project, which the tenant of the credential
    // determines.
    const others =
      'project_id session_id business_account_id phone_number_id task_id user_id payload_id step_id payment_price_id thread_id message_id request_id grant_id stop_id job_id view_id'.split(
        ' ',
      );
    const fields = closed.flatMap(([, entry]) => Object.keys((entry.inputSchema.properties ?? {}) as object));
    const known = new Set([...Object.keys(references), ...others]);
    expect(fields.filter(field => field.endsWith('_id') && !known.has(field))).toEqual([]);
    expect(fieldsWithIds.length).toBeGreaterThan(5);
  });

  test.each(fieldsWithIds)('%s refuses a foreign %s, or finds nothing', async (_, field, entry) => {
    const { acme, rival, rivalToken: token } = worlds;
    const foreign = acme.ids[references[field] ?? ''] ?? '';
    const { status, body } = await worlds.call(entry, rival.ids, { token }, { [field]: foreign });
    // The answer equals that for an unknown id, in every list, count and total.
    const unknown = await worlds.call(entry, rival.ids, { token }, { [field]: newId() });
    expect([unknown.status, unknown.body?.code]).toEqual([status, body?.code]);
    if (entry.operation.method === 'GET' && status === 200)
      expect(withoutTimestamps(body)).toEqual(withoutTimestamps(unknown.body));
    else expect([404, 422], JSON.stringify(body)).toContain(status);
  });
});

describe('tricks with the path', () => {
  /** Paths that a lenient router reads differently from the preceding authorization check. */
  const tricks: [string, (path: string) => string][] = [
    ['a trailing slash', path => `${path}/`],
    ['a trailing dot', path => `${path}.`],
    ['a suffix', path => `${path}.json`],
    ['a matrix parameter', path => `${path};x=1`],
    ['an encoded slash', path => `${path}%2f`],
    ['an encoded NUL', path => `${path}%00`],
    ['an encoded newline', path => `${path}%0d%0aX-Injected:%201`],
    ['two slashes', path => path.replace('/v1/', '/v1//')],
    ['an encoded dot segment', path => path.replace('/v1/', '/v1/%2e%2e/v1/')],
    ['a dot segment through the health check', path => `/healthz/..${path}`],
    ['an encoded dot segment through the health check', path => `/healthz/%2e%2e${path}`],
    ['upper case', path => path.replace('/v1/', '/V1/')],
    ['an encoded letter', path => path.replace('/v1/', '/%761/')],
    ['a double encoding', path => path.replace('/v1/', '/v1%252f')],
    ['a backslash', path => path.replace('/v1/', '/v1\\')],
    ['an absolute target', path => `http://localhost${path}`],
  ];

  test.each(closed)('let nobody in to %s without a credential', async (_, entry) => {
    const path = pathIn(entry, worlds.rival.ids);
    for (const [name, trick] of tricks) {
      const { status, head } = await raw(
        `${entry.operation.method} ${trick(path)} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`,
      );
      expect([400, 401, 404, 405, 426], `${name}: ${status}`).toContain(status);
      expect(head, name).not.toContain('x-injected');
    }
  });

  test('and a role is asked for however an operation is reached', async () => {
    const entry = registry.byName.get('workflows_create');
    if (!entry) throw new Error('workflows_create is gone');
    const cookie = await worlds.cookieFor(worlds.rival.viewer);
    for (const [name, trick] of tricks) {
      const { status } = await raw(
        `POST ${trick('/v1/workflows')} HTTP/1.1\r\nHost: localhost\r\nCookie: ${cookie}\r\nSec-Fetch-Site: same-origin\r\nContent-Type: application/json\r\nContent-Length: 12\r\nConnection: close\r\n\r\n{"name":"x"}`,
      );
      expect([400, 403, 404, 405], `${name}: ${status}`).toContain(status);
    }
  });

  test('a request smuggled behind another is refused or answered as its own', async () => {
    const smuggled = 'GET /v1/workflows HTTP/1.1\r\nHost: localhost\r\n\r\n';
    const both = `POST /v1/workflows HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${smuggled.length}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${smuggled}`;
    expect((await raw(both)).status).toBe(400);
  });
});

/** Sends one raw request; fetch would normalize most of these before sending them. */
function raw(text: string): Promise<{ status: number; head: string }> {
  const { hostname, port } = new URL(worlds.service.url);
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = connect(Number(port), hostname, () => socket.write(text));
    socket.setTimeout(20_000, () => socket.destroy(new Error(`no answer to ${text.slice(0, 80)}`)));
    socket.on('data', chunk => {
      answer += chunk.toString('latin1');
    });
    socket.on('error', reject);
    socket.on('close', () => {
      const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1] ?? 0);
      resolve({ status, head: answer.split('\r\n\r\n')[0]?.toLowerCase() ?? '' });
    });
  });
}

describe('bombs', () => {
  const post = (path: string, body: Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) =>
    fetch(worlds.service.url + path, {
      method: 'POST',
      headers: { Authorization: `Bearer ${worlds.rivalToken}`, 'Content-Type': 'application/json', ...headers },
      body,
    });

  test('a compressed body is not unpacked', async () => {
    const bomb = new Uint8Array(gzipSync(JSON.stringify({ name: 'x'.repeat(100_000_000) })));
    expect(bomb.byteLength).toBeLessThan(200_000);
    expect((await post('/v1/workflows', bomb, { 'Content-Encoding': 'gzip' })).status).toBe(400);
  });

  test('a deep, a wide and a repetitive document are refused in bounded time', async () => {
    const deep = `{"name":"x","graph":${'{"a":'.repeat(150_000)}1${'}'.repeat(150_000)}}`;
    const wide = JSON.stringify({
      name: 'x',
      graph: { steps: Array.from({ length: 30_000 }, (_, n) => ({ id: `s${n}` })) },
    });
    const keys = `{${Array.from({ length: 60_000 }, (_, n) => `"k${n}":1`).join()}}`;
    for (const text of [deep, wide, keys]) {
      const { status } = await post('/v1/workflows', new TextEncoder().encode(text));
      expect([400, 413, 422]).toContain(status);
    }
  });

  test('a YAML document of references to references is refused', async () => {
    const lines = ['a: &a [x, x, x, x, x, x, x, x, x]'];
    for (const [next, before] of [...'bcdefghi'].map((letter, at) => [letter, 'abcdefgh'[at]])) {
      lines.push(`${next}: &${next} [${Array(9).fill(`*${before}`).join(', ')}]`);
    }
    const document = JSON.stringify({ document: lines.join('\n') });
    expect((await post('/v1/workflows/import', new TextEncoder().encode(document))).status).toBe(422);
  });
});

describe('prototype pollution', () => {
  test('keys that name a prototype are keys, all the way through a run', async () => {
    const { rivalToken: token, rival } = worlds;
    const path = `/v1/workflows/${rival.ids['workflows/id']}`;
    const hostileText =
      '{"command":"start","params":{"trigger_payload":{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}},"__proto__":{"polluted":true}}}';
    const response = await fetch(`${worlds.service.url}${path}/command`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
      body: hostileText,
    });
    expect(response.status).toBe(200);
    expect(Reflect.get({}, 'polluted')).toBeUndefined();
    const { run_id } = (await response.json()) as { run_id: string };
    const context = await worlds.request('GET', `${path}/runs/${run_id}/context`, { token });
    // A free-form key takes precedence over a key of the payload.
    expect(JSON.stringify(context.body.input)).toBe(
      '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}',
    );
  });
});
