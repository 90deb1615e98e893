import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Principal } from '../../../operation/context.ts';
import { newId } from '../../../platform/ids.ts';
import { createMcpWorld, type McpWorld, publishedServer, startToolServer } from '../../../testing/mcp-servers.ts';
import { createTestProject } from '../../../testing/workflows.ts';

let world: McpWorld;
let toolServer: Awaited<ReturnType<typeof startToolServer>>;
/** A second project of the workspace, and a contributor who is only in that project. */
let second: Awaited<ReturnType<typeof createTestProject>>;

beforeAll(async () => {
  toolServer = await startToolServer();
  world = await createMcpWorld();
  second = await createTestProject(world.services, world.acme, 'second');
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
  await toolServer[Symbol.asyncDispose]();
});

const elsewhere = 'https://elsewhere.example.com/mcp';
const published = async () => (await publishedServer(world, toolServer.url)).id;
const patch = (who: Principal, id: string, change: object) => world.call(who, 'mcp_servers_patch', { id, ...change });
const use = (who: Principal, server_id: string) => world.call(who, 'mcp_instances_create', { server_id, name: 'Mine' });
const refused = {
  status: 403,
  code: 'insufficient_role',
  message: 'Other projects have instances of the server: only a tenant_admin changes its address.',
};

test('a server that other projects use is moved to another address only by an administrator', async () => {
  const { contributor, owner } = world.acme;
  const id = await published();
  await use(second.contributor, id);
  await expect(patch(contributor, id, { canonical_url: elsewhere, name: 'Moved' })).rejects.toMatchObject(refused);
  expect(await world.call(contributor, 'mcp_servers_get', { id })).toMatchObject({
    canonical_url: toolServer.url,
    status: 'published',
    name: 'Demo',
  });
  expect(await patch(contributor, id, { canonical_url: toolServer.url, name: 'Renamed' })).toMatchObject({
    name: 'Renamed',
    status: 'published',
  });
  expect(await patch(owner, id, { canonical_url: elsewhere })).toMatchObject({
    canonical_url: elsewhere,
    status: 'draft',
  });
});

test('a contributor moves a server that no other project uses', async () => {
  const { contributor } = world.acme;
  const unused = await published();
  expect(await patch(contributor, unused, { canonical_url: elsewhere })).toMatchObject({ canonical_url: elsewhere });
  const own = await published();
  await use(contributor, own);
  expect(await patch(contributor, own, { canonical_url: elsewhere })).toMatchObject({ canonical_url: elsewhere });
  await expect(patch(second.contributor, own, { canonical_url: toolServer.url })).rejects.toMatchObject(refused);
});

test('an instance that another project creates at that moment prevents the move', async () => {
  const { tenantId, contributor } = world.acme;
  const id = await published();
  const client = await world.db.pool.connect();
  try {
    await client.query('BEGIN');
    await client.query(
      `INSERT INTO mcp_instances (id, tenant_id, project_id, server_id, name, config, created_by, created_at, updated_at)
       VALUES ($1, $2, $3, $4, 'Mine', '{}', $5, now(), now())`,
      [newId(), tenantId, second.projectId, id, second.contributor.userId],
    );
    let isSettled = false;
    const moving = patch(contributor, id, { canonical_url: elsewhere }).finally(() => {
      isSettled = true;
    });
    const outcome = expect(moving).rejects.toMatchObject(refused);
    const waiting = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    await expect.poll(async () => isSettled || (await world.db.pool.query(waiting)).rowCount === 1).toBe(true);
    await client.query('COMMIT');
    await outcome;
  } finally {
    client.release();
  }
});
