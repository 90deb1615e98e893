import { z } from 'zod';
import type { Context } from '../../../operation/context.ts';
import { cutPage, decodeCursor, TimeIdKey } from '../../../operation/cursor.ts';
import { MAX_INTEGER } from '../../../operation/wire.ts';
import { notFound } from '../../../platform/errors.ts';
import type {
  ListServersInput,
  ListServersOutput,
  ListVersionsInput,
  ListVersionsOutput,
  ServerDetail,
  ServerRef,
  Version,
  VersionRef,
} from '../schemas.ts';
import { listServerRows } from './store.ts';
import { findServerVersion, listServerVersions } from './version-queries.ts';
import {
  describeServer,
  describeVersion,
  requireServer,
  requireServerDetail,
  serverKey,
  toServer,
  toVersionSummary,
} from './view.ts';

/** Returns the workspace's servers, newest first. */
export async function listServers(
  ctx: Context,
  input: z.output<typeof ListServersInput>,
): Promise<z.input<typeof ListServersOutput>> {
  const key = decodeCursor(TimeIdKey, input.cursor);
  const rows = await listServerRows(ctx.services.prisma, ctx.principal.tenantId, {
    status: input.status,
    q: input.q,
    after: key,
    limit: input.limit + 1,
  });
  const page = cutPage(rows, input.limit, row => [row.createdAt.getTime(), row.id]);
  return { servers: page.rows.map(toServer), next_cursor: page.next_cursor };
}

/** Returns a server of the workspace. Throws AppError 404. */
export async function getServer(
  ctx: Context,
  input: z.output<typeof ServerRef>,
): Promise<z.input<typeof ServerDetail>> {
  return describeServer(ctx, await requireServerDetail(ctx, input.id));
}

const VersionKey = z.tuple([z.number().int().min(1).max(MAX_INTEGER)]);

/** Lists the versions, newest first, without their tools. */
export async function listVersions(
  ctx: Context,
  input: z.output<typeof ListVersionsInput>,
): Promise<z.input<typeof ListVersionsOutput>> {
  const key = decodeCursor(VersionKey, input.cursor);
  const server = await requireServer(ctx, input.id);
  const rows = await listServerVersions(ctx.services.pool, serverKey(ctx, server.id), {
    before: key?.[0] ?? null,
    limit: input.limit + 1,
  });
  const page = cutPage(rows, input.limit, row => [row.version]);
  return { versions: page.rows.map(toVersionSummary), next_cursor: page.next_cursor };
}

/** Returns a version with its tools. Throws AppError 404. */
export async function getVersion(ctx: Context, input: z.output<typeof VersionRef>): Promise<z.input<typeof Version>> {
  const row = await findServerVersion(ctx.services.pool, serverKey(ctx, input.id), input.version);
  if (row === null) throw notFound('Version of the MCP server');
  return describeVersion(ctx, row);
}
