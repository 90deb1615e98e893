import type { z } from 'zod';
import type { Context } from '../../../operation/context.ts';
import { conflict, invalid } from '../../../platform/errors.ts';
import { newId } from '../../../platform/ids.ts';
import { type CreateInstanceInput, type InstanceDetail, limits } from '../schemas.ts';
import { findServer, type ServerRow } from '../servers/store.ts';
import { findServerVersion } from '../servers/version-queries.ts';
import { serverKey } from '../servers/view.ts';
import { insertInstance } from './queries.ts';
import { checkSettings } from './settings.ts';
import { describeInstance, instanceKey, requireOwnConnection } from './view.ts';

/**
 * Creates an instance, which binds a published server to a connection, for the steps of one project. Throws AppError 409
 * `mcp_server_not_published` or `credential_origin_refused`, 422 `unknown_server`, `unknown_version`,
 * `unknown_connection`, `invalid_settings`, `limit_reached`.
 */
export async function createInstance(
  ctx: Context,
  input: z.output<typeof CreateInstanceInput>,
): Promise<z.input<typeof InstanceDetail>> {
  const { pool, prisma, clock } = ctx.services;
  const server = await findServer(prisma, serverKey(ctx, input.server_id));
  if (server === null) throw unknownServer();
  const { version = null, connection_id = null } = input;
  await requireVersion(ctx, server, version);
  await requireOwnConnection(ctx, connection_id, server);
  checkSettings('config', input.config);
  const key = instanceKey(ctx, newId());
  const made = await insertInstance(pool, {
    ...key,
    serverId: server.id,
    version,
    name: input.name,
    connectionId: connection_id,
    config: input.config,
    createdBy: ctx.principal.userId,
    at: new Date(clock.now()),
  });
  if (!made) throw invalid(`A project has at most ${limits.instancesPerProject} MCP instances.`, [], 'limit_reached');
  return describeInstance(ctx, key.id);
}

/** Throws AppError 409 for a server that is not published, 422 `unknown_version` for a version that the server does not have. */
export async function requireVersion(ctx: Context, server: ServerRow, version: number | null): Promise<void> {
  if (server.latestVersion === null) {
    const message = 'This server has no published version yet: discover its tools and publish a version first.';
    throw conflict('mcp_server_not_published', message);
  }
  if (version === null) return;
  if ((await findServerVersion(ctx.services.pool, serverKey(ctx, server.id), version)) !== null) return;
  const detail = { path: 'version', message: 'is not a published version of the server', code: 'unknown_version' };
  throw invalid('The version does not exist.', [detail], 'unknown_version');
}

function unknownServer() {
  const detail = { path: 'server_id', message: 'is not an MCP server of this workspace', code: 'unknown_server' };
  return invalid('The MCP server does not exist.', [detail], 'unknown_server');
}
