import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../../platform/ids.ts';
import { createCall } from '../../../testing/call.ts';
import {
  createConnection,
  createMcpWorld,
  type McpWorld,
  publishedServer,
  startToolServer,
} from '../../../testing/mcp-servers.ts';
import { createTestProject } from '../../../testing/workflows.ts';
import { workflowOperations } from '../../workflows/operations.ts';
import { limits } from '../schemas.ts';

type Made = { id: string } & Record<string, unknown>;
let world: McpWorld;
let live: Awaited<ReturnType<typeof startToolServer>>;
let serverId: string;
beforeAll(async () => {
  world = await createMcpWorld();
  live = await startToolServer();
  serverId = (await publishedServer(world, live.url)).id;
});
afterAll(async () => {
  await live[Symbol.asyncDispose]();
  await world[Symbol.asyncDispose]();
});

const callOperation = (name: Parameters<McpWorld['call']>[1], input: object, by = world.acme.contributor) =>
  world.call(by, name, input) as Promise<Made>;
const create = (more: object = {}, by = world.acme.contributor) =>
  callOperation('mcp_instances_create', { server_id: serverId, name: 'One', ...more }, by);
const missing = { status: 404, code: 'not_found', message: 'MCP instance not found.' };

describe('creating', () => {
  it('binds the latest version, or a pinned one, and a connection', async () => {
    const connection_id = await createConnection(world, world.acme, { token: 'abcdef' });
    const made = await create({ connection_id, config: { headers: { 'X-Team': 'a' } } });
    expect(made).toMatchObject({
      server: { id: serverId, name: 'Demo', status: 'published', auth_mode: 'none' },
      version: null,
      effective_version: 1,
      tool_count: 2,
      connection_id,
      connection_name: 'Key',
      config: { headers: { 'X-Team': 'a' } },
      active_profile_id: null,
      used_by: [],
    });
    expect(await create({ version: 1 })).toMatchObject({ version: 1, effective_version: 1 });
    expect(await callOperation('mcp_servers_get', { id: serverId })).toMatchObject({ instance_count: 2 });
  });

  it('422 for a server or connection outside of the workspace, with the same answer whether it exists or not', async () => {
    const theirs = await createConnection(world, world.rival, { token: 'abcdef' });
    for (const connection_id of [theirs, newId()]) {
      await expect(create({ connection_id })).rejects.toMatchObject({ status: 422, code: 'unknown_connection' });
    }
    const unknown = { status: 422, code: 'unknown_server', details: [expect.objectContaining({ path: 'server_id' })] };
    await expect(create({}, world.rival.contributor)).rejects.toMatchObject(unknown);
    await expect(create({ server_id: newId() }, world.rival.contributor)).rejects.toMatchObject(unknown);
    await expect(create({ version: 2 })).rejects.toMatchObject({ status: 422, code: 'unknown_version' });
    const settings = { status: 422, code: 'invalid_settings' };
    await expect(create({ config: { headers: { Authorization: 'x' } } })).rejects.toMatchObject(settings);
  });

  it('409 for a server with nothing published; 422 beyond the bound of the project', async () => {
    const draft = await callOperation('mcp_servers_create', {
      name: 'Draft',
      canonical_url: 'https://mcp.example.com',
    });
    await expect(create({ server_id: draft.id })).rejects.toMatchObject({
      status: 409,
      code: 'mcp_server_not_published',
    });
    const { projectId, contributor } = await createTestProject(world.services, world.acme, 'full');
    await world.db.pool.query(
      `INSERT INTO mcp_instances (id, tenant_id, project_id, server_id, name, config, created_by, created_at, updated_at)
       SELECT gen_random_uuid(), 'acme', $2, $3, 'x', '{}', gen_random_uuid(), now(), now() FROM generate_series(1, $1) n`,
      [limits.instancesPerProject, projectId, serverId],
    );
    await expect(create({}, contributor)).rejects.toMatchObject({ status: 422, code: 'limit_reached' });
    await world.db.pool.query('DELETE FROM mcp_instances WHERE project_id = $1', [projectId]);
  });
});

describe('reading and changing', () => {
  it('stays within the project', async () => {
    const { contributor } = await createTestProject(world.services, world.acme, 'other');
    const { id } = await create({ name: 'Here' });
    for (const by of [contributor, world.rival.contributor]) {
      await expect(callOperation('mcp_instances_get', { id }, by)).rejects.toMatchObject(missing);
      await expect(callOperation('mcp_instances_patch', { id, name: 'X' }, by)).rejects.toMatchObject(missing);
      await expect(callOperation('mcp_instances_delete', { id }, by)).rejects.toMatchObject(missing);
      await expect(callOperation('mcp_instances_validate', { id }, by)).rejects.toMatchObject(missing);
      await expect(callOperation('mcp_config_profiles_list', { id }, by)).rejects.toMatchObject(missing);
      await expect(callOperation('mcp_config_profiles_create', { id, name: 'X' }, by)).rejects.toMatchObject(missing);
      expect(await callOperation('mcp_instances_list', { q: 'Here' }, by)).toMatchObject({ instances: [] });
    }
    // The server is the workspace's: another project may have its own instance.
    expect(await create({ name: 'There' }, contributor)).toMatchObject({ name: 'There' });
    expect(await callOperation('mcp_instances_list', { q: 'Here' })).toMatchObject({
      instances: [{ id, name: 'Here' }],
    });
  });

  it('lists newest first, in pages', async () => {
    const { contributor } = await createTestProject(world.services, world.acme, 'pages');
    for (const name of ['a', 'b', 'c']) {
      world.clock.advance(1);
      await create({ name }, contributor);
    }
    const first = await callOperation('mcp_instances_list', { limit: 2, server_id: serverId }, contributor);
    expect(first).toMatchObject({ instances: [{ name: 'c' }, { name: 'b' }] });
    const second = await callOperation('mcp_instances_list', { limit: 2, cursor: first.next_cursor }, contributor);
    expect(second).toMatchObject({ instances: [{ name: 'a' }], next_cursor: null });
  });

  it('changes only the given fields', async () => {
    const connection_id = await createConnection(world, world.acme, { token: 'abcdef' });
    const { id } = await create({ connection_id, version: 1 });
    expect(await callOperation('mcp_instances_patch', { id, name: 'Two' })).toMatchObject({
      name: 'Two',
      version: 1,
      connection_id,
    });
    const changed = await callOperation('mcp_instances_patch', {
      id,
      version: null,
      connection_id: null,
      config: { a: 1 },
    });
    expect(changed).toMatchObject({ name: 'Two', version: null, connection_id: null, config: { a: 1 } });
    expect(await callOperation('mcp_instances_patch', { id })).toMatchObject({ name: 'Two' });
    await expect(callOperation('mcp_instances_patch', { id, version: 9 })).rejects.toMatchObject({
      code: 'unknown_version',
    });
    const theirs = await createConnection(world, world.rival, { token: 'abcdef' });
    await expect(callOperation('mcp_instances_patch', { id, connection_id: theirs })).rejects.toMatchObject({
      code: 'unknown_connection',
    });
  });
});

describe('where it is used', () => {
  const workflow = async (name: string, instance_id: string) => {
    const call = createCall(world.services, workflowOperations);
    const graph = { steps: [{ id: 'a', type: 'mcp_call', instance_id, tool_name: 'add' }] };
    return (await call(world.acme.contributor, 'workflows_create', { name, graph })) as Made;
  };

  it('names the workflows, and refuses to be deleted while they use it, unless forced', async () => {
    const { id } = await create();
    const other = await create();
    const used = await workflow('Uses it', id);
    await workflow('Uses another', other.id);
    // The id in another field does not count as a use.
    const call = createCall(world.services, workflowOperations);
    const mention = { steps: [{ id: 'a', type: 'lua_script', script: `return "${id}"` }] };
    await call(world.acme.contributor, 'workflows_create', { name: 'Mentions it', graph: mention });
    const draft = { workflow_id: used.id, name: 'Uses it', draft: true, published: false };
    expect(await callOperation('mcp_instances_get', { id })).toMatchObject({ used_by: [draft] });
    const refused = {
      status: 409,
      code: 'instance_in_use',
      details: [{ message: expect.stringContaining('Uses it') }],
    };
    await expect(callOperation('mcp_instances_delete', { id })).rejects.toMatchObject(refused);

    // A published version keeps the instance in use after the draft was changed.
    await world.db.pool.query(
      `INSERT INTO workflow_versions (workflow_id, version, tenant_id, graph_snapshot, run_setup, changelog, graph_checksum, published_by, published_at)
       SELECT id, 1, tenant_id, graph, run_setup, '', graph_checksum, created_by, created_at FROM workflows WHERE id = $1`,
      [used.id],
    );
    await world.db.pool.query(`UPDATE workflows SET latest_version = 1, graph = '{"steps":[]}' WHERE id = $1`, [
      used.id,
    ]);
    const published = { ...draft, draft: false, published: true };
    expect(await callOperation('mcp_instances_get', { id })).toMatchObject({ used_by: [published] });
    await expect(callOperation('mcp_instances_delete', { id })).rejects.toMatchObject(refused);

    await call(world.acme.contributor, 'workflows_archive', { id: used.id });
    expect(await callOperation('mcp_instances_get', { id })).toMatchObject({ used_by: [] });
    await callOperation('mcp_instances_delete', { id });
    await callOperation('mcp_instances_delete', { id: other.id, force: true });
    await expect(callOperation('mcp_instances_get', { id: other.id })).rejects.toMatchObject(missing);
  });

  it('finds the steps in loops, too', async () => {
    const { id } = await create();
    const step = { id: 'a', type: 'mcp_call', instance_id: id, tool_name: 'add' };
    const loop = (name: string, ...steps: object[]) => ({ id: name, type: 'for_each', items: '[1]', steps });
    const agent = { id: 'b', type: 'agent', tools: [{ type: 'mcp', instance_id: id, tools: ['*'] }] };
    const call = createCall(world.services, workflowOperations);
    const graphs = { Agent: loop('one', agent), Nested: loop('one', loop('two', step)) };
    for (const [name, outer] of Object.entries(graphs))
      await call(world.acme.contributor, 'workflows_create', { name, graph: { steps: [outer] } });
    // Only a loop has steps.
    const mention = { ...loop('one', step), type: 'lua_script' };
    await call(world.acme.contributor, 'workflows_create', { name: 'Mentions it', graph: { steps: [mention] } });
    const used = Object.keys(graphs).map(name => expect.objectContaining({ name, draft: true, published: false }));
    expect(await callOperation('mcp_instances_get', { id })).toMatchObject({ used_by: used });
    await expect(callOperation('mcp_instances_delete', { id })).rejects.toMatchObject({ code: 'instance_in_use' });
  });

  it('resolves a workflow: what each step calls, its problems, and the instances that offer the tool', async () => {
    const { projectId: _, contributor } = await createTestProject(world.services, world.acme, 'resolve');
    const connection_id = await createConnection(world, { contributor }, { token: 'abcdef' });
    const good = await create({ name: 'Good', connection_id }, contributor);
    const theirs = await create({ name: 'Elsewhere' });
    const step = (id: string, more: object) => ({
      id,
      type: 'mcp_call',
      tool_name: 'add',
      instance_id: good.id,
      ...more,
    });
    const graph = {
      steps: [
        step('fine', {}),
        step('tool', { tool_name: 'subtract' }),
        step('project', { instance_id: theirs.id }),
        step('nothing', { instance_id: '', tool_name: undefined }),
        step('text', { instance_id: '{{input.instance}}' }),
        { id: 'lua', type: 'lua_script', script: 'return 1' },
      ],
    };
    const offer = { instance_id: good.id, name: 'Good', server_name: 'Demo' };
    const answer = await callOperation('mcp_instances_resolve', { graph }, contributor);
    expect(answer).toMatchObject({
      valid: false,
      steps: [
        {
          step_id: 'fine',
          ok: true,
          instance: { id: good.id, name: 'Good' },
          server: { id: serverId, name: 'Demo' },
          version: 1,
          connection: { id: connection_id, name: 'Key', status: 'active' },
          problems: [],
          suggestions: [],
        },
        { step_id: 'tool', ok: false, problems: [{ code: 'unknown_tool' }], suggestions: [] },
        {
          step_id: 'project',
          ok: false,
          instance: null,
          problems: [{ code: 'unknown_instance' }],
          suggestions: [offer],
        },
        { step_id: 'nothing', problems: [{ code: 'missing_tool' }, { code: 'missing_instance' }], suggestions: [] },
        { step_id: 'text', problems: [{ code: 'unknown_instance' }], suggestions: [offer] },
      ],
    });
    expect(
      await callOperation('mcp_instances_resolve', { graph: { steps: [step('fine', {})] } }, contributor),
    ).toMatchObject({
      valid: true,
    });

    const saved = await workflow('Resolve me', theirs.id);
    expect(await callOperation('mcp_instances_resolve', { workflow_id: saved.id })).toMatchObject({
      valid: true,
      steps: [{ step_id: 'a' }],
    });
    for (const input of [{}, { workflow_id: saved.id, graph }]) {
      await expect(callOperation('mcp_instances_resolve', input)).rejects.toMatchObject({ status: 422 });
    }
    await expect(
      callOperation('mcp_instances_resolve', { workflow_id: saved.id }, world.rival.contributor),
    ).rejects.toMatchObject({ status: 404 });
    await expect(callOperation('mcp_instances_resolve', { workflow_id: newId() })).rejects.toMatchObject({
      status: 404,
    });
  });
});

describe('config profiles', () => {
  it('are created, listed by name, changed, activated one at a time, and deleted', async () => {
    const connection_id = await createConnection(world, world.acme, { token: 'abcdef' });
    const { id } = await create();
    const live = await callOperation('mcp_config_profiles_create', {
      id,
      name: 'live',
      connection_id,
      settings: { region: 'eu' },
    });
    const dev = await callOperation('mcp_config_profiles_create', { id, name: 'dev' });
    expect(live).toMatchObject({
      instance_id: id,
      name: 'live',
      active: false,
      connection_name: 'Key',
      settings: { region: 'eu' },
    });
    await expect(callOperation('mcp_config_profiles_create', { id, name: 'dev' })).rejects.toMatchObject({
      status: 409,
      code: 'name_taken',
    });

    const ref = { id, profile_id: live.id };
    expect(await callOperation('mcp_config_profiles_set_active', ref)).toMatchObject({ active: true });
    expect(await callOperation('mcp_config_profiles_set_active', { id, profile_id: dev.id })).toMatchObject({
      active: true,
    });
    expect(await callOperation('mcp_config_profiles_list', { id })).toMatchObject({
      profiles: [
        { name: 'dev', active: true },
        { name: 'live', active: false },
      ],
    });
    const first = await callOperation('mcp_config_profiles_list', { id, limit: 1 });
    expect(first).toMatchObject({ profiles: [{ name: 'dev' }], next_cursor: expect.any(String) });
    const second = await callOperation('mcp_config_profiles_list', { id, limit: 1, cursor: first.next_cursor });
    expect(second).toMatchObject({ profiles: [{ name: 'live' }], next_cursor: null });
    await expect(callOperation('mcp_config_profiles_list', { id, cursor: 'x' })).rejects.toMatchObject({ status: 422 });
    // Deactivating a profile that is not active keeps the active one.
    expect(await callOperation('mcp_config_profiles_set_active', { ...ref, active: false })).toMatchObject({
      active: false,
    });
    expect(await callOperation('mcp_instances_get', { id })).toMatchObject({
      active_profile_id: dev.id,
      active_profile_name: 'dev',
    });

    expect(
      await callOperation('mcp_config_profiles_patch', { ...ref, name: 'prod', connection_id: null, settings: {} }),
    ).toMatchObject({
      name: 'prod',
      connection_id: null,
      settings: {},
    });
    await expect(callOperation('mcp_config_profiles_patch', { ...ref, name: 'dev' })).rejects.toMatchObject({
      code: 'name_taken',
    });
    await callOperation('mcp_config_profiles_delete', { id, profile_id: dev.id });
    expect(await callOperation('mcp_instances_get', { id })).toMatchObject({ active_profile_id: null });
    await expect(callOperation('mcp_config_profiles_delete', { id, profile_id: dev.id })).rejects.toMatchObject({
      status: 404,
    });
  });

  it('belong to exactly one instance of the project', async () => {
    const { id } = await create();
    const other = await create();
    const { id: profile_id } = await callOperation('mcp_config_profiles_create', { id, name: 'p' });
    const gone = { status: 404, code: 'not_found' };
    for (const [ref, by] of [
      [{ id: other.id, profile_id }, world.acme.contributor],
      [{ id, profile_id: newId() }, world.acme.contributor],
      [{ id, profile_id }, world.rival.contributor],
    ] as const) {
      await expect(callOperation('mcp_config_profiles_patch', { ...ref, name: 'x' }, by)).rejects.toMatchObject(gone);
      await expect(callOperation('mcp_config_profiles_set_active', ref, by)).rejects.toMatchObject(gone);
      await expect(callOperation('mcp_config_profiles_delete', ref, by)).rejects.toMatchObject(gone);
    }
    const theirs = await createConnection(world, world.rival, { token: 'abcdef' });
    const unknown = { status: 422, code: 'unknown_connection' };
    await expect(
      callOperation('mcp_config_profiles_create', { id, name: 'q', connection_id: theirs }),
    ).rejects.toMatchObject(unknown);
    await expect(
      callOperation('mcp_config_profiles_patch', { id, profile_id, connection_id: theirs }),
    ).rejects.toMatchObject(unknown);
    const bad = { settings: { headers: { Host: 'evil' } } };
    await expect(callOperation('mcp_config_profiles_create', { id, name: 'q', ...bad })).rejects.toMatchObject({
      code: 'invalid_settings',
    });
    await expect(callOperation('mcp_config_profiles_patch', { id, profile_id, ...bad })).rejects.toMatchObject({
      code: 'invalid_settings',
    });
  });

  it('are at most fifty', async () => {
    const { id } = await create();
    await world.db.pool.query(
      `INSERT INTO mcp_config_profiles (id, tenant_id, instance_id, name, settings, created_at, updated_at)
       SELECT gen_random_uuid(), 'acme', $1, 'p' || n, '{}', now(), now() FROM generate_series(1, $2) n`,
      [id, limits.profilesPerInstance],
    );
    await expect(callOperation('mcp_config_profiles_create', { id, name: 'one more' })).rejects.toMatchObject({
      code: 'limit_reached',
    });
  });
});
