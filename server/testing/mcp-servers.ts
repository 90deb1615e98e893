import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { z } from 'zod';
import { connectionOperations } from '../domains/connections/operations.ts';
import { mcpServerOperations } from '../domains/mcp-servers/operations.ts';
import type { Services } from '../operation/services.ts';
import { ManualClock } from '../platform/clock.ts';
import { createEgress } from '../platform/egress/egress.ts';
import { createCall } from './call.ts';
import { createTestServices, createTestTenant, type TestTenant } from './identity.ts';
import { startSdkServer } from './mcp-server.ts';
import { createTestDatabase, type TestDatabase } from './postgres.ts';

export const testOperations = [...mcpServerOperations, ...connectionOperations] as const;

export type McpWorld = AsyncDisposable & {
  db: TestDatabase;
  services: Services;
  clock: ManualClock;
  acme: TestTenant;
  rival: TestTenant;
  call: ReturnType<typeof createCall<typeof testOperations>>;
};

/** Creates two tenants, the operations of MCP servers and connections, and an egress guard that permits 127.0.0.1. */
export async function createMcpWorld(): Promise<McpWorld> {
  const db = await createTestDatabase();
  const clock = new ManualClock();
  const egress = createEgress({ allowPrivate: ['127.0.0.1/32'] });
  const services = createTestServices(db, { clock, egress });
  return {
    db,
    services,
    clock,
    acme: await createTestTenant(services, { slug: 'acme' }),
    rival: await createTestTenant(services, { slug: 'rival' }),
    call: createCall(services, testOperations),
    async [Symbol.asyncDispose]() {
      await egress.close();
      await db.close();
    },
  };
}

/** Registers the tools `add` and `echo` with an SDK server. */
export function configureTools(server: McpServer): void {
  server.registerTool(
    'add',
    { title: 'Add', description: 'Adds two numbers.', inputSchema: { a: z.number(), b: z.number() } },
    ({ a, b }) => ({ content: [{ type: 'text', text: String(a + b) }] }),
  );
  server.registerTool('echo', { description: 'Says it again.', inputSchema: { text: z.string() } }, ({ text }) => ({
    content: [{ type: 'text', text }],
  }));
}

/** Starts a real MCP server; with `token`, it requires that bearer token. */
export function startToolServer(
  options: { configure?: (server: McpServer) => void; token?: string; json?: boolean } = {},
): ReturnType<typeof startSdkServer> {
  const { configure = configureTools, token, json = true } = options;
  return startSdkServer({
    configure,
    json,
    before: (request, response) => {
      if (token === undefined || request.headers.authorization === `Bearer ${token}`) return false;
      response.writeHead(401, { 'WWW-Authenticate': 'Bearer' }).end();
      return true;
    },
  });
}

type Made = { id: string } & Record<string, unknown>;

/** Registers, discovers and publishes a server; returns the answer of the registration. */
export async function publishedServer({ call, acme }: McpWorld, url: string, more: object = {}): Promise<Made> {
  const input = { name: 'Demo', canonical_url: url, ...more };
  const server = (await call(acme.contributor, 'mcp_servers_create', input)) as Made;
  await call(acme.contributor, 'mcp_servers_discover', { id: server.id });
  await call(acme.contributor, 'mcp_servers_publish_version', { id: server.id, changelog: 'First' });
  return server;
}

/** Creates a connection with these credentials; returns its id. */
export async function createConnection(
  { call }: McpWorld,
  by: Pick<TestTenant, 'contributor'>,
  credentials: Record<string, string>,
  more: object = {},
): Promise<string> {
  const input = { display_name: 'Key', provider: 'custom', service: 'api_key', credentials, ...more };
  return ((await call(by.contributor, 'connections_create', input)) as Made).id;
}
