import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Clock } from '../platform/clock.ts';

type Version = { data: Record<string, unknown> | null; destroyed: boolean };
type Token = { ttlSeconds: number; expiresAt: number | null; renewable: boolean };
type Answer = { status: number; body?: unknown };

export type TestVault = {
  address: string;
  /** The stored secrets, by path. */
  entries: Map<string, Version[]>;
  tokens: Map<string, Token>;
  /** Every request, as `METHOD path`. */
  requests: string[];
  /** The fault to produce instead of the right answer. */
  mood: 'well' | 'sealed' | 'denying' | 'silent' | 'babbling' | 'flooding' | 'redirecting';
  /** Awaited before a request is answered. */
  before: (request: string) => Promise<void>;
  /** Whether a write must name the version it replaces. */
  casRequired: boolean;
  /** Issues a token as an operator would. `ttlSeconds` 0: one that never expires. */
  issue(ttlSeconds: number): string;
  close(): Promise<void>;
};

export const testRole = { roleId: 'role-of-baton', secretId: 'secret-id-of-baton' };

const errors = (status: number, ...messages: string[]): Answer => ({ status, body: { errors: messages } });

/**
 * Starts a stateful server that speaks the part of Vault's HTTP protocol for KV version 2, AppRole and token renewal,
 * in the formats of its documentation. The mount is `secret`; if `namespace` is given, requests must send it.
 */
export async function startTestVault(clock: Clock, { namespace }: { namespace?: string } = {}): Promise<TestVault> {
  const entries = new Map<string, Version[]>();
  const tokens = new Map<string, Token>();
  const answer = async (request: IncomingMessage): Promise<Answer> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString();
    const path = decodeURIComponent((request.url ?? '').replace(/^\/v1\//, ''));
    const { method = '', headers } = request;
    vault.requests.push(`${method} ${path}`);
    await vault.before(`${method} ${path}`);
    if (vault.mood === 'sealed') return errors(503, 'Vault is sealed');
    if (namespace !== undefined && headers['x-vault-namespace'] !== namespace) return errors(404);
    const body = text === '' ? {} : JSON.parse(text);
    if (path === 'auth/approle/login') {
      const known = body.role_id === testRole.roleId && body.secret_id === testRole.secretId;
      return known ? granted(vault.issue(3600)) : errors(400, 'invalid role or secret ID');
    }
    const given = String(headers['x-vault-token'] ?? '');
    const token = tokens.get(given);
    const expired = token?.expiresAt !== null && (token?.expiresAt ?? 0) <= clock.now();
    if (!token || expired || vault.mood === 'denying') return errors(403, 'permission denied');
    if (path === 'auth/token/lookup-self') {
      return { status: 200, body: { data: { id: given, ttl: token.ttlSeconds, renewable: token.renewable } } };
    }
    if (path === 'auth/token/renew-self') {
      token.expiresAt = clock.now() + token.ttlSeconds * 1000;
      return granted(given);
    }
    return keyValue(vault, clock, { method, path, body });
  };
  const granted = (token: string): Answer => {
    const { ttlSeconds, renewable } = tokens.get(token) ?? { ttlSeconds: 0, renewable: false };
    return { status: 200, body: { auth: { client_token: token, lease_duration: ttlSeconds, renewable } } };
  };
  const server = createServer(async (request, response) => {
    const { status, body } = await answer(request);
    if (vault.mood === 'silent') return;
    if (vault.mood === 'babbling') return void response.end(`<p>it is ${JSON.stringify([...entries.values()])}</p>`);
    if (vault.mood === 'flooding') return void response.end(Buffer.alloc(9 * 1024 * 1024, '[[]]'));
    if (vault.mood === 'redirecting') return void response.writeHead(307, { location: '/v1/elsewhere' }).end();
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(body === undefined ? undefined : JSON.stringify(body));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const vault: TestVault = {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    entries,
    tokens,
    requests: [],
    mood: 'well',
    before: async () => {},
    casRequired: false,
    issue(ttlSeconds) {
      const token = `hvs.${randomBytes(12).toString('base64url')}`;
      const expiresAt = ttlSeconds === 0 ? null : clock.now() + ttlSeconds * 1000;
      tokens.set(token, { ttlSeconds, expiresAt, renewable: ttlSeconds > 0 });
      return token;
    },
    close() {
      server.closeAllConnections();
      return new Promise(done => server.close(() => done()));
    },
  };
  return vault;
}

type Body = { options?: { cas?: number }; data?: Version['data']; versions?: number[] };

function keyValue(
  vault: TestVault,
  clock: Clock,
  { method, path, body }: { method: string; path: string; body: Body },
): Answer {
  const [, kind, place = ''] = /^secret\/(data|metadata|destroy)\/(.+)$/.exec(path) ?? [];
  const versions = vault.entries.get(place) ?? [];
  const metadata = { version: versions.length, created_time: new Date(clock.now()).toISOString(), deletion_time: '' };
  switch (`${method} ${kind}`) {
    case 'GET data': {
      const newest = versions.at(-1);
      if (!newest) return errors(404);
      const found = newest.data !== null && !newest.destroyed;
      return { status: found ? 200 : 404, body: { data: { data: found ? newest.data : null, metadata } } };
    }
    case 'POST data': {
      const cas = body.options?.cas;
      if (cas === undefined && vault.casRequired) return errors(400, 'check-and-set parameter required for this call');
      if (cas !== undefined && cas !== versions.length) {
        return errors(400, 'check-and-set parameter did not match the current version');
      }
      vault.entries.set(place, [...versions, { data: body.data ?? null, destroyed: false }]);
      return { status: 200, body: { data: { ...metadata, version: versions.length + 1 } } };
    }
    case 'GET metadata':
      if (versions.length === 0) return errors(404);
      return { status: 200, body: { data: { versions: Object.fromEntries(versions.map((_, at) => [at + 1, {}])) } } };
    case 'DELETE metadata':
      vault.entries.delete(place);
      return { status: 204 };
    case 'POST destroy':
      for (const version of body.versions ?? []) versions[version - 1] = { data: null, destroyed: true };
      return { status: 204 };
    default:
      return errors(404);
  }
}
