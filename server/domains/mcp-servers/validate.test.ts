import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../platform/ids.ts';
import { startHttpServer, startSseServer } from '../../testing/mcp-server.ts';
import {
  configureTools,
  createConnection,
  createMcpWorld,
  type McpWorld,
  publishedServer,
  startToolServer,
} from '../../testing/mcp-servers.ts';

type Made = { id: string } & Record<string, unknown>;
type Report = { valid: boolean; checks: { name: string; ok: boolean; message: string }[] };
let world: McpWorld;
beforeAll(async () => {
  world = await createMcpWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

const callOperation = (name: Parameters<McpWorld['call']>[1], input: object, by = world.acme.contributor) =>
  world.call(by, name, input) as Promise<Made>;
const check = async (name: Parameters<McpWorld['call']>[1], input: object) =>
  (await callOperation(name, input)) as unknown as Report;
const server = (canonical_url: string, auth_mode = 'none') =>
  callOperation('mcp_servers_create', { name: 'Checked', canonical_url, auth_mode });
/** Returns the names of the checks that are not ok, and the message of the first one. */
const wrong = ({ checks }: Report) => checks.flatMap(({ name, ok }) => (ok ? [] : [name]));
const why = ({ checks }: Report) => checks.find(({ ok }) => !ok)?.message;

describe('a server', () => {
  it('is valid if it answers with exactly the published tools', async () => {
    await using live = await startToolServer();
    const { id } = await publishedServer(world, live.url);
    const report = await check('mcp_servers_validate', { id });
    expect(report.valid).toBe(true);
    expect(report.checks.map(({ name }) => name)).toEqual([
      'url_allowed',
      'reachable',
      'authentication',
      'protocol_version',
      'tools_readable',
      'catalogue_current',
    ]);
    expect(report.checks[3]?.message).toMatch(/MCP \d{4}-\d\d-\d\d over Streamable HTTP/);
  });

  it('is valid over the older transport too', async () => {
    await using live = await startSseServer(configureTools);
    const { id } = await publishedServer(world, live.url);
    const report = await check('mcp_servers_validate', { id });
    expect(report).toMatchObject({ valid: true });
    expect(report.checks[3]?.message).toContain('SSE');
  });

  it('is not valid if its tools differ from the published ones', async () => {
    let changed = false;
    await using live = await startToolServer({
      configure: each => {
        if (!changed) configureTools(each);
        else each.registerTool('echo', { description: 'Says it twice.' }, () => ({ content: [] }));
      },
    });
    const { id } = await publishedServer(world, live.url);
    changed = true;
    const report = await check('mcp_servers_validate', { id });
    expect(wrong(report)).toEqual(['catalogue_current']);
    expect(why(report)).toContain('1 removed, 1 changed');
  });

  it('reports that nothing is published', async () => {
    await using live = await startToolServer();
    const { id } = await server(live.url);
    expect(wrong(await check('mcp_servers_validate', { id }))).toEqual(['catalogue_current']);
  });

  it('that is unreachable, requires credentials, or is not an MCP server, fails at exactly that check', async () => {
    const gone = await startToolServer();
    await gone[Symbol.asyncDispose]();
    const unreachable = await check('mcp_servers_validate', { id: (await server(gone.url)).id });
    expect(wrong(unreachable)[0]).toBe('reachable');
    expect(why(unreachable)).toContain('cannot be reached');

    await using closed = await startToolServer({ token: 'abcdef' });
    expect(wrong(await check('mcp_servers_validate', { id: (await server(closed.url)).id }))[0]).toBe('authentication');

    await using page = await startHttpServer((_, response) => {
      response.writeHead(200, { 'Content-Type': 'text/html' }).end('<h1>Hello</h1>');
    });
    const other = await check('mcp_servers_validate', { id: (await server(page.url)).id });
    expect(wrong(other)[0]).toBe('protocol_version');

    await using redirecting = await startHttpServer((_, response) => {
      response.writeHead(307, { Location: 'http://10.0.0.1/mcp' }).end();
    });
    const redirected = await check('mcp_servers_validate', { id: (await server(redirecting.url)).id });
    expect(redirected.valid).toBe(false);
    expect(JSON.stringify(redirected)).not.toContain('10.0.0.1 answered');
  });

  it('whose name now resolves to a private address is not called', async () => {
    const { id } = await server('https://mcp.example.com');
    await world.db.pool.query(`UPDATE mcp_servers SET canonical_url = 'http://192.168.0.1/' WHERE id = $1`, [id]);
    const report = await check('mcp_servers_validate', { id });
    expect(wrong(report)[0]).toBe('url_allowed');
    expect(report.checks.slice(1).every(({ message }) => message.startsWith('Not checked'))).toBe(true);
  });
});

describe('a connection', () => {
  it('is checked against the server', async () => {
    await using live = await startToolServer({ token: 'right-token' });
    const { id } = await server(live.url, 'token');
    const right = await createConnection(world, world.acme, { token: 'right-token' });
    const wrongOne = await createConnection(world, world.acme, { token: 'wrong-token' });
    const unfit = await createConnection(world, world.acme, { user: 'a' });
    await callOperation('mcp_servers_discover', { id, connection_id: right });
    await callOperation('mcp_servers_publish_version', { id });
    const validateConnection = (connection_id: string) =>
      check('mcp_servers_validate_connection', { id, connection_id });
    expect(await validateConnection(right)).toMatchObject({ valid: true });
    const refused = await validateConnection(wrongOne);
    expect(wrong(refused)[0]).toBe('authentication');
    expect(JSON.stringify(refused)).not.toContain('wrong-token');
    expect(wrong(await validateConnection(unfit))[0]).toBe('credentials_fit');
    await world.db.pool.query(`UPDATE connections SET status = 'expired' WHERE id = $1`, [right]);
    expect(wrong(await validateConnection(right))[0]).toBe('connection_active');
  });

  it('is 404 if it belongs to another workspace or does not exist', async () => {
    const { id } = await server('https://mcp.example.com');
    const theirs = await createConnection(world, world.rival, { token: 'abcdef' });
    for (const connection_id of [theirs, newId()]) {
      await expect(validateConnection(id, connection_id)).rejects.toMatchObject({
        status: 404,
        message: 'Connection not found.',
      });
    }
    const mine = await createConnection(world, world.rival, { token: 'abcdef' });
    await expect(
      callOperation('mcp_servers_validate_connection', { id, connection_id: mine }, world.rival.contributor),
    ).rejects.toMatchObject({ status: 404, message: 'MCP server not found.' });
  });
  const validateConnection = (id: string, connection_id: string) =>
    callOperation('mcp_servers_validate_connection', { id, connection_id });
});

describe('an instance', () => {
  it('is checked with the connection and headers of the active profile, like a step', async () => {
    await using live = await startToolServer({ token: 'right-token' });
    const right = await createConnection(world, world.acme, { token: 'right-token' });
    const bad = await createConnection(world, world.acme, { token: 'wrong-token' });
    const { id: server_id } = await server(live.url, 'token');
    await callOperation('mcp_servers_discover', { id: server_id, connection_id: right });
    await callOperation('mcp_servers_publish_version', { id: server_id });
    const { id } = await callOperation('mcp_instances_create', {
      server_id,
      name: 'I',
      config: { headers: { 'X-Team': 'blue' } },
    });
    const report = () => check('mcp_instances_validate', { id });
    expect(wrong(await report())[0]).toBe('connection_active');

    await callOperation('mcp_instances_patch', { id, connection_id: bad });
    expect(wrong(await report())[0]).toBe('authentication');
    const profile = await callOperation('mcp_config_profiles_create', {
      id,
      name: 'p',
      connection_id: right,
      settings: { headers: { 'X-Env': 'prod' } },
    });
    await callOperation('mcp_config_profiles_set_active', { id, profile_id: profile.id });
    expect(await report()).toMatchObject({ valid: true });
    expect(live.seen.at(-1)?.headers).toMatchObject({
      'x-team': 'blue',
      'x-env': 'prod',
      authorization: 'Bearer right-token',
    });

    await callOperation('mcp_servers_patch', { id: server_id, auth_mode: 'oauth' });
    expect(wrong(await report()).slice(0, 2)).toEqual(['version_published', 'credentials_fit']);
  });
});
