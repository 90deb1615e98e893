import type { z } from 'zod';
import type { Context } from '../../../operation/context.ts';
import { isoTimestamp } from '../../../platform/clock.ts';
import { invalid, notFound } from '../../../platform/errors.ts';
import { connectionRef } from '../../connections/get.ts';
import { requireOrBindOrigin } from '../../connections/origins.ts';
import { findConnection } from '../../connections/store.ts';
import { requireScopes } from '../../identity/authority.ts';
import type { AuthMode, Instance, InstanceDetail, Profile } from '../schemas.ts';
import type { ProfileRow } from './profile-queries.ts';
import { findInstance, type InstanceKey, type InstanceRow, usesOfInstance } from './queries.ts';

/** The maximum number of workflows named as users of an instance. */
export const MAX_USES_SHOWN = 20;

/** Returns the key of an instance of the caller's project. */
export function instanceKey({ principal }: Context, id: string): InstanceKey {
  return { tenantId: principal.tenantId, projectId: principal.projectId, id };
}

/** Returns the instance. Throws AppError 404 if the project does not have it. */
export async function requireInstance(ctx: Context, id: string): Promise<InstanceRow> {
  const row = await findInstance(ctx.services.pool, instanceKey(ctx, id));
  if (row === null) throw notFound('MCP instance');
  return row;
}

/**
 * AppError 403 for a token without `connection:manage`: a caller who names a connection decides where its credentials
 * are sent. Throws AppError 422 `unknown_connection` for a connection, named in a body, that the project does not see: the
 * same for another workspace's or project's as for one that does not exist. Throws AppError 409 `credential_origin_refused` if
 * its credentials may not be sent to the server.
 */
export async function requireOwnConnection(
  ctx: Context,
  id: string | null | undefined,
  server: { canonicalUrl: string; authMode: z.output<typeof AuthMode> },
): Promise<void> {
  if (id === null || id === undefined) return;
  requireScopes(ctx.principal, ['connection:manage']);
  const row = await findConnection(ctx.services.prisma, connectionRef(ctx, id));
  if (row === null) throw unknownConnection();
  if (server.authMode !== 'none') await requireOrBindOrigin(ctx, row, server.canonicalUrl);
}

export function unknownConnection() {
  const detail = { path: 'connection_id', message: 'is not a connection of this project', code: 'unknown_connection' };
  return invalid('The connection does not exist.', [detail], 'unknown_connection');
}

export function toInstance(row: InstanceRow): z.input<typeof Instance> {
  return {
    id: row.id,
    project_id: row.project_id,
    server_id: row.server_id,
    server: {
      id: row.server_id,
      name: row.server_name,
      service: row.server_service,
      status: row.server_status,
      auth_mode: row.auth_mode,
    },
    version: row.version,
    effective_version: row.effective_version,
    tool_count: row.tool_count,
    name: row.name,
    connection_id: row.connection_id,
    connection_name: row.connection_name,
    config: row.config,
    active_profile_id: row.active_profile_id,
    active_profile_name: row.active_profile_name,
    created_at: isoTimestamp(row.created_at.getTime()),
    updated_at: isoTimestamp(row.updated_at.getTime()),
  };
}

/** Returns the instance with the workflows that use it. */
export async function describeInstance(ctx: Context, id: string): Promise<z.input<typeof InstanceDetail>> {
  const row = await requireInstance(ctx, id);
  const uses = await usesOfInstance(ctx.services.pool, instanceKey(ctx, id), MAX_USES_SHOWN);
  const used_by = uses.map(({ workflow_id, name, draft, published }) => ({ workflow_id, name, draft, published }));
  return { ...toInstance(row), used_by };
}

export function toProfile(row: ProfileRow): z.input<typeof Profile> {
  return {
    id: row.id,
    instance_id: row.instance_id,
    name: row.name,
    settings: row.settings,
    connection_id: row.connection_id,
    connection_name: row.connection_name,
    active: row.active,
    created_at: isoTimestamp(row.created_at.getTime()),
    updated_at: isoTimestamp(row.updated_at.getTime()),
  };
}
