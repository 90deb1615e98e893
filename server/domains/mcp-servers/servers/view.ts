import type { z } from 'zod';
import type { Context } from '../../../operation/context.ts';
import { isoTimestamp } from '../../../platform/clock.ts';
import { notFound } from '../../../platform/errors.ts';
import { diffCatalogs } from '../catalog/diff.ts';
import { toServerInfo, toTool } from '../catalog/view.ts';
import type { Server, ServerDetail, Version, VersionSummary } from '../schemas.ts';
import { findServer, findServerDetail, type ServerDetailRow, type ServerKey, type ServerRow } from './store.ts';
import { findServerVersion, type VersionRow, type VersionSummaryRow } from './version-queries.ts';

/** Returns the key of a server of the caller's workspace. */
export function serverKey(ctx: Context, id: string): ServerKey {
  return { tenantId: ctx.principal.tenantId, id };
}

/** Returns the server. Throws AppError 404 if the workspace does not have it. */
export async function requireServer(ctx: Context, id: string): Promise<ServerRow> {
  const row = await findServer(ctx.services.prisma, serverKey(ctx, id));
  if (row === null) throw notFound('MCP server');
  return row;
}

/** Returns the same with the tools of the last discovery. */
export async function requireServerDetail(ctx: Context, id: string): Promise<ServerDetailRow> {
  const row = await findServerDetail(ctx.services.prisma, serverKey(ctx, id));
  if (row === null) throw notFound('MCP server');
  return row;
}

export function toServer(row: ServerRow): z.input<typeof Server> {
  return {
    id: row.id,
    name: row.name,
    service: row.service,
    canonical_url: row.canonicalUrl,
    mode: row.mode,
    auth_mode: row.authMode,
    status: row.status,
    latest_version: row.latestVersion,
    tool_count: row.toolCount,
    instance_count: row.instanceCount,
    discovered_at: row.discoveredAt === null ? null : isoTimestamp(row.discoveredAt.getTime()),
    last_error: row.lastError,
    created_at: isoTimestamp(row.createdAt.getTime()),
    updated_at: isoTimestamp(row.updatedAt.getTime()),
  };
}

/** Returns the server with its discovery, compared with the published version. */
export async function describeServer(ctx: Context, row: ServerDetailRow): Promise<z.input<typeof ServerDetail>> {
  const { discovered } = row;
  if (discovered === null) return { ...toServer(row), discovered: null };
  const published = await latestVersion(ctx, row);
  return {
    ...toServer(row),
    discovered: {
      tools: discovered.tools.map(toTool),
      server_info: toServerInfo(discovered.server_info),
      warnings: discovered.warnings ?? [],
      diff: diffCatalogs(published, discovered.tools),
    },
  };
}

/** Returns the published version; null if none is published. */
export async function latestVersion(ctx: Context, row: ServerRow): Promise<VersionRow | null> {
  if (row.latestVersion === null) return null;
  return findServerVersion(ctx.services.pool, serverKey(ctx, row.id), row.latestVersion);
}

export function toVersionSummary(row: VersionSummaryRow): z.input<typeof VersionSummary> {
  return {
    server_id: row.server_id,
    version: row.version,
    changelog: row.changelog,
    checksum: row.checksum,
    tool_count: row.tool_count,
    published_by: row.published_by,
    published_at: isoTimestamp(row.published_at.getTime()),
  };
}

/** Returns a version with its tools and what it changed. */
export async function describeVersion(ctx: Context, row: VersionRow): Promise<z.input<typeof Version>> {
  const key = serverKey(ctx, row.server_id);
  const previous = row.version === 1 ? null : await findServerVersion(ctx.services.pool, key, row.version - 1);
  return {
    ...toVersionSummary(row),
    tools: row.tools.map(toTool),
    server_info: toServerInfo(row.server_info),
    diff: diffCatalogs(previous, row.tools),
  };
}
