import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Principal } from '../../operation/context.ts';
import { scopes } from '../../orchestrator/ports/authority.ts';
import { createTestPat } from '../../testing/identity.ts';
import {
  createConnection,
  createMcpWorld,
  type McpWorld,
  publishedServer,
  startToolServer,
} from '../../testing/mcp-servers.ts';

let world: McpWorld;
let toolServer: Awaited<ReturnType<typeof startToolServer>>;
/** A token with every scope except `connection:manage`. */
let narrow: Principal;

beforeAll(async () => {
  toolServer = await startToolServer();
  world = await createMcpWorld();
  const rest = scopes.filter(scope => scope !== 'connection:manage');
  narrow = (await createTestPat(world.services, world.acme.owner, rest)).principal;
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
  await toolServer[Symbol.asyncDispose]();
});

test('a token without connection:manage cannot decide where the credentials of a connection are sent', async () => {
  const connection_id = await createConnection(world, world.acme, { token: 'secret-of-acme' });
  const server = await publishedServer(world, toolServer.url);
  const named = { name: 'Mine', server_id: server.id };
  const instance = (await world.call(narrow, 'mcp_instances_create', named)) as { id: string };
  const profile = (await world.call(narrow, 'mcp_config_profiles_create', { id: instance.id, name: 'p' })) as {
    id: string;
  };
  const refused = { status: 403, code: 'insufficient_scope' };
  const attempts: [Parameters<McpWorld['call']>[1], object][] = [
    ['mcp_instances_create', { ...named, connection_id }],
    ['mcp_instances_patch', { id: instance.id, connection_id }],
    ['mcp_config_profiles_create', { id: instance.id, name: 'q', connection_id }],
    ['mcp_config_profiles_patch', { id: instance.id, profile_id: profile.id, connection_id }],
    ['mcp_servers_discover', { id: server.id, connection_id }],
    ['mcp_servers_validate', { id: server.id, connection_id }],
    ['mcp_servers_validate_connection', { id: server.id, connection_id }],
    ['mcp_servers_patch', { id: server.id, canonical_url: 'https://attacker.example.com/mcp' }],
    ['mcp_servers_patch', { id: server.id, auth_mode: 'header' }],
  ];
  for (const [name, input] of attempts) {
    await expect(world.call(narrow, name, input), name).rejects.toMatchObject(refused);
  }
  await world.call(narrow, 'mcp_servers_patch', { id: server.id, name: 'Renamed' });
});
