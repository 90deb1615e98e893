import type { z } from 'zod';
import type { Services } from '../../../operation/services.ts';
import type { McpTool } from '../../../platform/mcp-client/index.ts';
import { type McpServer, Prisma } from '../../../platform/postgres/generated/client.ts';
import { containing, escapeLike, exactJson, olderThan } from '../../../platform/postgres/prisma.ts';
import { type Transaction, transact } from '../../../platform/postgres/transaction.ts';
import type { AuthMode, ServerMode, ServerStatus } from '../schemas.ts';
import { lockServer } from './queries.ts';

export type StoredServerInfo = {
  name: string;
  version: string;
  protocolVersion: string;
  transport: string;
  instructions?: string;
};
/** The column `discovered`. */
export type StoredDiscovery = { tools: McpTool[]; server_info: StoredServerInfo; warnings?: string[] };

export type ServerRow = Omit<McpServer, 'mode' | 'authMode' | 'status' | 'discovered'> & {
  mode: z.output<typeof ServerMode>;
  authMode: z.output<typeof AuthMode>;
  status: z.output<typeof ServerStatus>;
  instanceCount: number;
};
export type ServerDetailRow = ServerRow & { discovered: StoredDiscovery | null };
export type ServerKey = { tenantId: string; id: string };

type Models = Pick<Transaction, 'mcpServer'>;
type Counted = Omit<McpServer, 'discovered'> & { _count: { instances: number } };

function toRow({ _count: count, mode, authMode, status, ...row }: Counted): ServerRow {
  return {
    ...row,
    mode: mode as ServerRow['mode'],
    authMode: authMode as ServerRow['authMode'],
    status: status as ServerRow['status'],
    instanceCount: count.instances,
  };
}

/** Counts the instances of one server, or of all servers of a tenant. */
const instancesOf = (where: { tenantId: string; serverId?: string }) => ({
  _count: { select: { instances: { where } } },
});

/** Returns the services (slugs) of the tenant that begin with `slug`, from which a new one must differ. */
export async function takenServices(prisma: Models, tenantId: string, slug: string): Promise<Set<string>> {
  const rows = await prisma.mcpServer.findMany({
    where: { tenantId, service: { startsWith: escapeLike(slug) } },
    select: { service: true },
  });
  return new Set(rows.map(row => row.service));
}

/** Returns the server without its tools; null if the tenant does not have it. */
export async function findServer(prisma: Models, { tenantId, id }: ServerKey): Promise<ServerRow | null> {
  const row = await prisma.mcpServer.findFirst({
    where: { id, tenantId },
    omit: { discovered: true },
    include: instancesOf({ tenantId, serverId: id }),
  });
  return row && toRow(row);
}

/** Returns the same with the tools of the last discovery. */
export async function findServerDetail(prisma: Models, { tenantId, id }: ServerKey): Promise<ServerDetailRow | null> {
  const found = await prisma.mcpServer.findFirst({
    where: { id, tenantId },
    include: instancesOf({ tenantId, serverId: id }),
  });
  if (found === null) return null;
  const { discovered, ...row } = found;
  return { ...toRow(row), discovered: discovered as StoredDiscovery | null };
}

export type ServerFilter = {
  status?: string | undefined;
  q?: string | undefined;
  after: readonly [number, string] | null;
  limit: number;
};

/** Returns the tenant's servers, newest first. */
export async function listServerRows(
  prisma: Models,
  tenantId: string,
  { status, q, after, limit }: ServerFilter,
): Promise<ServerRow[]> {
  const text = q === undefined || q === '' ? null : containing(q);
  const rows = await prisma.mcpServer.findMany({
    where: {
      tenantId,
      status,
      ...(text === null ? {} : { OR: [{ name: text }, { service: text }, { canonicalUrl: text }] }),
      ...olderThan('id', after),
    },
    omit: { discovered: true },
    include: instancesOf({ tenantId }),
    orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
    take: limit,
  });
  return rows.map(toRow);
}

/** Returns the ids of the tenant's servers by address; if several have one address, the oldest. */
export async function serversByUrl(
  prisma: Models,
  tenantId: string,
  urls: readonly string[],
): Promise<Map<string, string>> {
  const rows = await prisma.mcpServer.findMany({
    where: { tenantId, canonicalUrl: { in: [...urls] } },
    select: { id: true, canonicalUrl: true },
    orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
  });
  return new Map(rows.map(row => [row.canonicalUrl, row.id]));
}

type ServerChange = { name?: string | undefined; canonicalUrl?: string | undefined; authMode?: string | undefined };

/** The fields that are reset when a server's address or authentication changes. */
const FORGOTTEN = { status: 'draft', discovered: Prisma.DbNull, discoveredAt: null, toolCount: 0, lastError: null };

/**
 * Changes the given fields. With another address or `auth_mode` it may be a different server: its discovered tools are
 * deleted and its status is draft again. Returns 'used_elsewhere', and changes nothing, for another address of a server
 * that has instances outside of the project `movableBy`; 'missing' if the server does not exist.
 */
export async function updateServer(
  services: Pick<Services, 'prisma'>,
  { at, movableBy, ...key }: ServerKey & { at: Date; movableBy: 'everybody' | { projectId: string } },
  { name, canonicalUrl, authMode }: ServerChange,
): Promise<'updated' | 'used_elsewhere' | 'missing'> {
  const { id, tenantId } = key;
  return transact(services, async tx => {
    const server = await lockServer(tx, key);
    if (server === null) return 'missing';
    const hasNewUrl = canonicalUrl !== undefined && canonicalUrl !== server.canonicalUrl;
    if (hasNewUrl && movableBy !== 'everybody') {
      const elsewhere = { serverId: id, tenantId, projectId: { not: movableBy.projectId } };
      const used = await tx.mcpInstance.findFirst({ where: elsewhere, select: { id: true } });
      if (used !== null) return 'used_elsewhere';
    }
    const isMoved = hasNewUrl || (authMode !== undefined && authMode !== server.authMode);
    await tx.mcpServer.updateMany({
      where: { id, tenantId },
      // Prisma ignores undefined fields.
      data: { name, canonicalUrl, authMode, ...(isMoved ? FORGOTTEN : {}), updatedAt: at },
    });
    return 'updated';
  });
}

/**
 * Stores what a discovery found, or why it failed (the tools found before then stay). Returns false if the server was
 * changed or deleted during the discovery.
 */
export async function saveDiscovery(
  prisma: Models,
  { id, tenantId, canonicalUrl, authMode, at }: ServerKey & { canonicalUrl: string; authMode: string; at: Date },
  found: StoredDiscovery | { failure: string },
): Promise<boolean> {
  const outcome =
    'failure' in found
      ? { lastError: found.failure }
      : { discovered: exactJson(found), toolCount: found.tools.length, discoveredAt: at, lastError: null };
  const { count } = await prisma.mcpServer.updateMany({
    where: { id, tenantId, canonicalUrl, authMode },
    data: { ...outcome, updatedAt: at },
  });
  return count === 1;
}

/**
 * Deletes a server, its versions and its instances in these projects. Returns 'in_use' if it has instances and `force`
 * is 'none', and 'used_elsewhere' if it has instances outside of the one named project.
 */
export async function deleteServerRow(
  prisma: Pick<Services, 'prisma'>,
  { tenantId, id }: ServerKey,
  force: 'none' | 'everywhere' | { projectId: string },
): Promise<'deleted' | 'in_use' | 'used_elsewhere' | 'missing'> {
  try {
    return await transact(prisma, async tx => {
      const instances = { serverId: id, tenantId };
      if (typeof force === 'object') {
        const elsewhere = { ...instances, projectId: { not: force.projectId } };
        if ((await tx.mcpInstance.count({ where: elsewhere })) > 0) return 'used_elsewhere';
      }
      if (force !== 'none') {
        const within = typeof force === 'object' ? { projectId: force.projectId } : {};
        await tx.mcpInstance.deleteMany({ where: { ...instances, ...within } });
      }
      const unused = force === 'everywhere' ? {} : { instances: { none: {} } };
      const { count } = await tx.mcpServer.deleteMany({ where: { id, tenantId, ...unused } });
      if (count === 1) return 'deleted';
      return (await tx.mcpServer.count({ where: { id, tenantId } })) === 0 ? 'missing' : 'in_use';
    });
  } catch (error) {
    // An instance was created meanwhile, and its foreign key refers to the server.
    if (error instanceof Error && 'code' in error && error.code === 'P2003') return 'in_use';
    throw error;
  }
}
