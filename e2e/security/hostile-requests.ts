import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { sign } from '../../server/testing/webhooks.ts';
import { Client } from '../faults/client.ts';

/** A hostile tenant: its client and address, the objects that it has prepared, and the ids of the honest tenant that it knows. */
export type Attacker = {
  readonly client: Client;
  readonly address: string;
  readonly prepared: Prepared;
  readonly victim: { readonly email: string; readonly connection: string; readonly modelKey: string };
};
export type Prepared = {
  readonly workflow: string;
  readonly tokens: readonly string[];
  readonly webhook: { readonly path: string; readonly secret: string };
  readonly server: string;
  /** The path of a run whose task `ask` has the form ENUM_FORM. */
  readonly asking: string;
};

/** An attack that consists of a bounded number of requests. `statuses` lists every acceptable answer. */
export type RequestAttack = {
  readonly name: string;
  readonly statuses: readonly number[];
  /** Returns the received statuses, and a function that ends the connections that the attack holds open. */
  begin(attacker: Attacker): Promise<{ answered: number[]; end?: () => Promise<void> | void }>;
};

const times = <T>(count: number, make: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => make(n));

/**
 * Closes each connection, because idle ones are closed only after 65 s (server/api/edge.ts): too late for a test that
 * counts open connections.
 */
const CLOSES = { Connection: 'close' };

/** Calls all at once and returns the statuses. */
async function callAll(
  { client, address }: Attacker,
  calls: readonly [method: string, path: string, body: unknown, headers?: Record<string, string>][],
): Promise<number[]> {
  const answers = calls.map(([method, path, body, headers]) =>
    client.call(method, path, body, { 'X-Forwarded-For': address, ...CLOSES, ...headers }),
  );
  return (await Promise.all(answers)).map(({ status }) => status);
}

function openSocket({ client }: Attacker): Socket {
  const socket = connect({ host: '127.0.0.1', port: Number(new URL(client.url).port) });
  socket.on('error', () => undefined);
  return socket;
}

/** Resolves to the status of the answer; 0 if the connection closes without an answer. */
function statusOf(socket: Socket): Promise<number> {
  return new Promise(resolve => {
    socket.once('data', chunk => resolve(Number(/^HTTP\/1\.1 (\d{3})/.exec(String(chunk))?.[1] ?? 0)));
    socket.once('close', () => resolve(0));
  });
}

const upgradeOf = (target: string, { address }: Attacker, token: string) =>
  [
    `GET ${target} HTTP/1.1`,
    'Host: baton',
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    `X-Forwarded-For: ${address}`,
    `Authorization: Bearer ${token}`,
    '\r\n',
  ].join('\r\n');

/** Some requests queue for longer than the client waits on a busy machine, and then have no status. */
const NO_ANSWER = 0;
function withPatience(attacker: Attacker, pat: string): Attacker {
  const client = new Client(attacker.client.url, pat);
  client.mayHang = true;
  return { ...attacker, client };
}

const edge: readonly RequestAttack[] = [
  {
    name: 'upgrades of // and of paths without a WebSocket',
    statuses: [404, 400],
    async begin(attacker) {
      const targets = ['//', '///', '//v1', '/nope', '/v1/none', '/mcp', '/%', 'http://['];
      const answered = times(80, async n => {
        const socket = openSocket(attacker);
        socket.write(upgradeOf(targets[n % targets.length] ?? '//', attacker, 'pat_x'));
        const status = await statusOf(socket);
        socket.destroy();
        return status;
      });
      return { answered: await Promise.all(answered) };
    },
  },
  {
    name: 'a flood of half-open connections',
    statuses: [],
    async begin(attacker) {
      const sockets = times(300, () => openSocket(attacker));
      for (const socket of sockets)
        socket.write('POST /v1/workflows HTTP/1.1\r\nHost: baton\r\nContent-Length: 1000000\r\n\r\n{"na');
      return { answered: [], end: () => closeAll(sockets) };
    },
  },
  {
    name: 'streams by several tokens',
    statuses: [101],
    async begin(attacker) {
      const { tokens, workflow } = attacker.prepared;
      const sockets = times(90, () => openSocket(attacker));
      const answered = sockets.map((socket, n) => {
        socket.write(upgradeOf(`${workflow}/stream`, attacker, tokens[n % tokens.length] ?? ''));
        return statusOf(socket);
      });
      return { answered: await Promise.all(answered), end: () => closeAll(sockets) };
    },
  },
];

async function closeAll(sockets: readonly Socket[]): Promise<void> {
  for (const socket of sockets) socket.destroy();
  await delay(0);
}

/** Unfinished templates as long as a script may be, and longer. */
const unfinished = ['{{input.a ?? ['.repeat(18_600), '{{input.a ?? ['.repeat(60_000)];
const repetitive = [`a: [${'{},'.repeat(300_000)}`, '- &a x\n'.repeat(120_000), '- '.repeat(400_000)];

const documents: readonly RequestAttack[] = [
  {
    name: 'imports of repetitive YAML, 24 at once',
    statuses: [NO_ANSWER, 422, 429],
    begin: async attacker => ({
      answered: await callAll(
        withPatience(attacker, attacker.client.pat),
        times(24, n => ['POST', '/v1/workflows/import', { document: repetitive[n % repetitive.length] }]),
      ),
    }),
  },
  {
    name: 'drafts with unfinished templates',
    statuses: [200, 201, 422],
    begin: async attacker => {
      const path = `${attacker.prepared.workflow}/validate`;
      return {
        answered: await callAll(
          attacker,
          times(8, n => {
            const graph = { steps: [{ id: 'a', type: 'lua_script', script: unfinished[n >> 2] }] };
            return n % 2 ? ['POST', path, { graph }] : ['POST', '/v1/workflows', { name: `draft ${n}`, graph }];
          }),
        ),
      };
    },
  },
  {
    name: 'a form with an enum of thousands against 150,000 items',
    statuses: [422],
    begin: async attacker => {
      const result = { items: times(150_000, n => `n${n % 10}`) };
      const path = `${attacker.prepared.asking}/tasks/ask/complete`;
      return {
        answered: await callAll(
          attacker,
          times(4, () => ['POST', path, { approved: true, result }]),
        ),
      };
    },
  },
];

/** The form of the task that every hostile tenant prepares. */
const ENUM_FORM = {
  type: 'object',
  properties: { items: { type: 'array', items: { enum: times(5_000, n => `value ${n}`) } } },
};

const SIGN_IN = '/api/auth/callback/credentials';
const guess = 'a password that is wrong';

const SIGN_IN_STATUSES = [NO_ANSWER, 401, 429];

const identities: readonly RequestAttack[] = [
  {
    name: 'a flood of sign-ins to one account',
    statuses: SIGN_IN_STATUSES,
    begin: async attacker => ({
      answered: await callAll(
        withPatience(attacker, ''),
        times(40, () => ['POST', SIGN_IN, { email: attacker.victim.email, password: guess }]),
      ),
    }),
  },
  {
    name: 'a spray of sign-ins over many accounts and addresses',
    statuses: SIGN_IN_STATUSES,
    begin: async attacker => ({
      answered: await callAll(
        withPatience(attacker, ''),
        times(20, n => [
          'POST',
          SIGN_IN,
          { email: `person-${n}@example.com`, password: guess },
          { 'X-Forwarded-For': `198.51.100.${n}` },
        ]),
      ),
    }),
  },
  {
    name: 'invitations and resets for the addresses of others',
    statuses: [201, 202, 204, 409, 429],
    begin: async attacker => {
      const { email } = attacker.victim;
      return {
        answered: await callAll(
          attacker,
          times(40, n =>
            n % 2
              ? ['POST', '/v1/password-resets', { email }]
              : ['POST', '/v1/invitations', { email, role: 'project_viewer' }],
          ),
        ),
      };
    },
  },
];

const credentials: readonly RequestAttack[] = [
  {
    name: 'recorded deliveries, sent again under other keys',
    // After all the other attacks, some requests find the tenant at its limits.
    statuses: [202, 429, 503],
    async begin(attacker) {
      const { path, secret } = attacker.prepared.webhook;
      const body = { order: 1042 };
      const timestamp = String(Math.floor(Date.now() / 1000));
      const signature = sign(secret, JSON.stringify(body), timestamp);
      const runs = new Set<unknown>();
      const answers = times(40, n =>
        attacker.client.call('POST', path, body, {
          ...CLOSES,
          'X-Forwarded-For': attacker.address,
          'X-Service-Signature': signature,
          'X-Service-Timestamp': timestamp,
          'Idempotency-Key': `key-${n}`,
        }),
      );
      const answered = (await Promise.all(answers)).map(answer => {
        if (answer.status === 202) runs.add(answer.body.run_id);
        return answer.status;
      });
      if (runs.size > 1) throw new Error(`one delivery started ${runs.size} runs`);
      return { answered };
    },
  },
  {
    name: 'discover and test with the credentials of others',
    statuses: [404, 422],
    begin: async attacker => {
      const { victim, prepared } = attacker;
      const connection_id = victim.connection;
      return {
        answered: await callAll(
          attacker,
          times(20, () => [
            ['POST', `/v1/mcp/servers/${prepared.server}/discover`, { connection_id }] as const,
            ['POST', `/v1/mcp/servers/${prepared.server}/validate`, { connection_id }] as const,
            ['POST', `/v1/llm-provider-keys/${victim.modelKey}/test`, {}] as const,
          ])
            .flat()
            .map(([method, path, body]) => [method, path, body]),
        ),
      };
    },
  },
  {
    name: 'keys with line breaks',
    statuses: [422],
    begin: async attacker => {
      const api_key = 'sk-live\r\nX-Injected: 1';
      const stored = { display_name: 'Key', provider: 'custom', service: 'api_key' };
      return {
        answered: await callAll(
          attacker,
          times(20, n =>
            n % 2
              ? ['POST', '/v1/llm-provider-keys', { provider: 'openai', api_key }]
              : ['POST', '/v1/connections', { ...stored, credentials: { 'a\r\nb': api_key, token: api_key } }],
          ),
        ),
      };
    },
  },
];

export const REQUEST_ATTACKS: readonly RequestAttack[] = [...edge, ...documents, ...identities, ...credentials];

/** Creates the objects that the attacks of one hostile tenant need. */
export async function prepare(client: Client): Promise<Prepared> {
  const make = async (path: string, body: unknown): Promise<Record<string, unknown>> => {
    const answer = await client.call('POST', path, body);
    if (answer.status >= 300) throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  const graph = { steps: [{ id: 'ask', type: 'human_task', form: ENUM_FORM }] };
  const { id } = await make('/v1/workflows', { name: 'asks', graph });
  const workflow = `/v1/workflows/${id}`;
  await make(`${workflow}/versions`, { changelog: 'first' });
  const { run_id } = await make(`${workflow}/command`, { command: 'start', params: {} });
  const hook = await make('/v1/inbound-webhooks', { workflow_id: id, name: 'Orders' });
  const server = await make('/v1/mcp/servers', {
    name: 'Probe',
    canonical_url: 'https://mcp.example.com/mcp',
    auth_mode: 'token',
  });
  const tokens = times(3, async n => {
    const made = await make('/v1/pats', { display_name: `stream ${n}`, scopes: ['workflow:read'] });
    return String(made.token);
  });
  return {
    workflow,
    asking: `${workflow}/runs/${run_id}`,
    tokens: await Promise.all(tokens),
    webhook: { path: String(hook.ingress_path), secret: String(hook.signing_secret) },
    server: String(server.id),
  };
}

/** Creates the credentials of the honest tenant whose ids the hostile tenants know. */
export async function prepareVictim(client: Client, email: string): Promise<Attacker['victim']> {
  const connection = await client.call('POST', '/v1/connections', {
    display_name: 'Mail',
    provider: 'custom',
    service: 'api_key',
    credentials: { token: 'the honest token' },
  });
  const key = await client.call('POST', '/v1/llm-provider-keys', { provider: 'openai', api_key: 'sk-honest-key' });
  return { email, connection: String(connection.body.id), modelKey: String(key.body.id) };
}
