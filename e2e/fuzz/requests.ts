import { createHmac } from 'node:crypto';
import { cloudEventHeaders, deliveryBody } from './deliveries.ts';
import { input, known, maybeDamaged, mcpMessage, trpcCall, value } from './documents.ts';
import type { Source } from './source.ts';

/** Real ids and a real token, so that the cases get past authentication. */
export type World = { token: string; workflow: string; run: string; webhook: string; webhookSecret: string };

type Parts = {
  method: string;
  target: string;
  headers: [string, string][];
  body: string | null;
  /** Whether the body is bytes, one character each, and the headers of this request describe it. */
  typed?: boolean;
};

const plainTargets = [
  '/',
  '//',
  '///a//b',
  '/\\',
  '*',
  'http://other.example/v1/workflows',
  '/healthz',
  '/readyz',
  '/metrics',
  '/v1/openapi.json',
  '/v1',
  '/v1/',
  '/v1//workflows',
  '/v1/../healthz',
  '/v1/%2e%2e/healthz',
  '/v1/workflows/%00',
  '/v1/workflows/%ff%fe',
  '/v1/workflows?limit=1&limit=2',
  '/v1/workflows?cursor=%',
  '/v1/runs?from=x&to=%E2%80',
  '/demo/mcp',
  '/demo/api/orders?page=2',
  '/demo/api/orders/1001/shipments',
  '/mcp',
  '/mcp/',
  '/api/trpc/',
  '/api/auth/session',
  '/_next/static/x.js',
] as const;

/** Returns the path of an operation with its parameters filled with existing, unknown and malformed ids. */
function pathOf(source: Source, path: string, world: World): string {
  return path.replace(/\{[^}]*\}/g, () =>
    source.pick([
      world.workflow,
      world.run,
      world.webhook,
      '00000000-0000-7000-8000-000000000000',
      'nope',
      '%00',
      '..',
      '%2f',
      'x'.repeat(200),
      encodeURIComponent(source.bytes(1, 8)),
    ]),
  );
}

function query(source: Source, fields: readonly string[]): string {
  const names: [string, ...string[]] = ['limit', 'cursor', 'q', 'x', ...fields];
  const pairs = source.many(0, 3, () => `${source.pick(names)}=${encodeURIComponent(value(source, 5).toWellFormed())}`);
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`;
}

function restRequest(source: Source, world: World): Parts {
  const operation = source.pick(known);
  const method = source.oneIn(10)
    ? source.pick(['GET', 'PUT', 'HEAD', 'OPTIONS', 'DELETE', 'PROPFIND', 'TRACE'])
    : operation.method;
  const sends = !['GET', 'HEAD', 'DELETE', 'OPTIONS'].includes(method) || source.oneIn(20);
  const target = `${pathOf(source, operation.path, world)}${sends ? '' : query(source, operation.fields)}`;
  return { method, target, headers: [], body: sends ? maybeDamaged(source, input(source, operation)) : null };
}

const mcpHeaders = (): [string, string][] => [['Accept', 'application/json, text/event-stream']];

function delivery(source: Source, world: World): Parts {
  const headers: [string, string][] = [
    ['X-Service-Timestamp', source.pick(['0', '1e9', 'x', '-1', String(2 ** 53)])],
    ['X-Service-Signature', source.pick(['sha256=00', 'sha256=', 'v1=', `sha256=${'0'.repeat(64)}`, 'x'.repeat(900)])],
  ];
  const path = `/v1/inbound-webhooks/${world.webhook}`;
  if (source.oneIn(20)) {
    const query = `hub.mode=subscribe&hub.challenge=${source.pick(['1', '%3Cscript%3E', ''])}&hub.verify_token=${source.pick(['x', '%00'])}`;
    return { method: 'GET', target: `${path}/callback?${query}`, headers: [], body: null };
  }
  const target = path + source.pick(['', '', '', '/callback', '.x', '?validationToken=%3Cb%3E', '?validationToken=a']);
  const { body, type, coding } = deliveryBody(source);
  if (type !== null) headers.push(['Content-Type', type]);
  if (coding !== null) headers.push(['Content-Encoding', coding]);
  if (source.oneIn(8)) headers.push(...cloudEventHeaders(source));
  // The delivery is signed, so that the service reads the body.
  if (source.oneIn(4)) return { method: 'POST', target, headers, body, typed: true };
  const signed = headers.filter(([name]) => !name.startsWith('X-Service-'));
  const digest = createHmac('sha256', world.webhookSecret).update(Buffer.from(body, 'latin1')).digest('hex');
  return {
    method: 'POST',
    target,
    headers: [...signed, ['X-Service-Signature', `sha256=${digest}`]],
    body,
    typed: true,
  };
}

/**
 * Returns a request for a target that routing usually refuses. These requests are the cheapest to answer, so most cases are of this kind.
 */
function plainRequest(source: Source): Parts {
  const known = source.pick(plainTargets);
  // Only characters that HTTP allows in a target, so that the rest of the connection can be parsed.
  const target = source.oneIn(2) ? `/${source.mutate(known).replace(/[^!-~]/g, '')}` : known;
  const method = source.pick(['GET', 'GET', 'POST', 'HEAD', 'OPTIONS', 'DELETE']);
  const body = method === 'POST' && source.oneIn(2) ? source.bytes(0, 200) : null;
  return { method, target: target.slice(0, 4000), headers: [], body };
}

function request(source: Source, world: World): Parts {
  const kind = source.between(0, 99);
  if (kind < 10) return { method: 'POST', target: '/mcp', headers: mcpHeaders(), body: mcpMessage(source) };
  if (kind < 20) return { ...trpcCall(source), headers: [] };
  if (kind < 24) return delivery(source, world);
  if (kind < 27) return { method: 'POST', target: '/demo/mcp', headers: mcpHeaders(), body: mcpMessage(source) };
  if (kind < 50) return restRequest(source, world);
  return plainRequest(source);
}

const oddHeaders: readonly [
  (source: Source, world: World) => [string, string],
  ...((source: Source, world: World) => [string, string])[],
] = [
  source => ['X-Request-Id', source.pick(['a', 'x'.repeat(129), '\x80', '<script>'])],
  source => ['X-Forwarded-For', source.many(1, 40, () => source.pick(['1.2.3.4', '::1', 'x', ''])).join(', ')],
  source => [
    'Cookie',
    source
      .many(
        1,
        50,
        () =>
          `next-auth.session-token.${source.between(0, 60)}=${source.pick(['x', 'eyJhbGciOiJkaXIifQ..a.b.c', '%'])}`,
      )
      .join('; '),
  ],
  source => [
    'Content-Type',
    source.pick([
      'application/json; charset=utf-16',
      'text/plain',
      'multipart/form-data; boundary=',
      'application/jsonx',
      ';',
      '\xff',
    ]),
  ],
  source => ['Content-Encoding', source.pick(['gzip', 'br', 'identity', 'x'])],
  source => [
    'Authorization',
    source.pick(['Bearer', 'Bearer pat_x', 'Basic Og==', `Bearer pat_${'0'.repeat(46)}`, 'x'.repeat(3000)]),
  ],
  (_, world) => ['Authorization', `Bearer ${world.token}, Bearer ${world.token}`],
  source => ['Origin', source.pick(['null', 'http://[', 'https://evil.example', 'javascript:0'])],
  source => ['Sec-Fetch-Site', source.pick(['cross-site', 'same-origin', 'none', ''])],
  source => ['X-Tenant-Id', source.pick(['main', 'x'.repeat(400), '\xe9', '-'])],
  source => ['X-Project-Id', source.pick(['0', '00000000-0000-7000-8000-000000000000'])],
  source => ['If-Match', source.pick(['*', '"x"', 'W/"1"', '"'])],
  source => ['Idempotency-Key', source.pick(['', 'x'.repeat(256), '\x01'.repeat(0), 'é'])],
  source => ['traceparent', source.pick(['00-0-0-0', `00-${'0'.repeat(32)}-${'0'.repeat(16)}-01`, 'x'])],
  source => ['Mcp-Session-Id', source.pick(['x', '', '00000000-0000-7000-8000-000000000000'])],
  source => ['MCP-Protocol-Version', source.pick(['2025-06-18', '1999-01-01', ''])],
  source => ['Expect', source.pick(['100-continue', 'x'])],
  source => ['Upgrade', source.pick(['h2c', 'TLS/1.0', 'foo/2'])],
  source => ['Range', source.pick(['bytes=0-', 'bytes=-1', 'x'])],
  source => ['Accept', source.pick(['text/event-stream', '*/*;q=x', ''])],
  source => [`X-${'a'.repeat(source.between(1, 200))}`, 'x'.repeat(source.between(0, 2000))],
];

/** Returns the body with its framing: its length, or chunks with extensions and trailers. */
function framed(source: Source, body: string | null, isBytes: boolean): string {
  if (body === null) return '\r\n';
  const bytes = isBytes ? body : Buffer.from(body.toWellFormed(), 'utf8').toString('latin1');
  if (!source.oneIn(4)) return `Content-Length: ${bytes.length}\r\n\r\n${bytes}`;
  const chunks: string[] = [];
  for (let at = 0; at < bytes.length && chunks.length < 50; ) {
    const size = chunks.length === 49 ? bytes.length - at : source.between(1, 200);
    const chunk = bytes.slice(at, at + size);
    chunks.push(`${chunk.length.toString(16)}${source.oneIn(5) ? ';a="b"' : ''}\r\n${chunk}\r\n`);
    at += chunk.length;
  }
  return `Transfer-Encoding: chunked\r\n\r\n${chunks.join('')}0\r\n${source.oneIn(5) ? 'X-Trailer: y\r\n' : ''}\r\n`;
}

/** Returns one request that HTTP can parse, with any content. Latin-1: a character is a byte. */
export function wellFormed(source: Source, world: World): string {
  const { method, target, headers, body, typed = false } = request(source, world);
  const host = source.oneIn(30) ? source.pick(['evil.example', '[', 'x:99999', '127.0.0.1@x']) : '127.0.0.1';
  const all: [string, string][] = [['Host', host], ...headers];
  if (!source.oneIn(6)) all.push(['Authorization', `Bearer ${world.token}`]);
  if (body !== null && !typed && !source.oneIn(12)) all.push(['Content-Type', 'application/json']);
  if (source.oneIn(3)) all.push(...source.many(1, 3, () => source.pick(oddHeaders)(source, world)));
  const lines = all.map(([name, text]) => `${name}: ${text}\r\n`).join('');
  return `${method} ${target} HTTP/1.1\r\n${lines}${framed(source, body, typed)}`;
}

const breakages: readonly [
  (source: Source, whole: string) => string,
  ...((source: Source, whole: string) => string)[],
] = [
  (source, whole) => source.mutate(whole),
  (source, whole) => whole.slice(0, source.between(0, whole.length)),
  source => source.bytes(1, 400),
  (_, whole) => whole.replaceAll('\r\n', '\n'),
  (_, whole) => whole.replace('HTTP/1.1', 'HTTP/9.9'),
  (_, whole) => whole.replace('HTTP/1.1', 'HTTP/1.0'),
  (_, whole) => whole.replace('\r\n', '\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n'),
  (_, whole) => whole.replace('\r\n', '\r\nContent-Length: 5\r\nContent-Length: 6\r\n'),
  (_, whole) => whole.replace('\r\n', '\r\nTransfer-Encoding: gzip, chunked\r\n'),
  (source, whole) =>
    whole.replace(
      '\r\n',
      `\r\nContent-Length: ${source.pick(['-1', '99999999999999999999', '0x10', '1e3', '+1'])}\r\n`,
    ),
  (source, whole) =>
    whole.replace(
      '\r\n',
      `\r\nTransfer-Encoding: chunked\r\n\r\n${source.pick(['ffffffffffffffff', 'G', '-1', '0;', ''])}\r\n`,
    ),
  (source, whole) => whole.replace('\r\n', `\r\nX: ${'x'.repeat(source.between(15_000, 40_000))}\r\n`),
  (source, whole) => whole.replace('\r\n', `\r\n${'a: b\r\n'.repeat(source.between(100, 4000))}`),
  (source, whole) => whole.replace(/^(\S+) \S+/, `$1 /${'a/'.repeat(source.between(2000, 12_000))}`),
  (_, whole) => `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n${whole}`,
  source => `\x16\x03\x01\x02\x00\x01\x00${source.bytes(10, 300)}`,
  (_, whole) => whole.replace(/^\S+/, 'CONNECT'),
];

/** Returns one request that HTTP cannot parse, or that does not end. */
export function malformed(source: Source, world: World): string {
  return source.pick(breakages)(source, wellFormed(source, world));
}
