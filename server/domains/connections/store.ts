import type { JsonObject } from '../../platform/json.ts';
import type { Connection } from '../../platform/postgres/generated/client.ts';
import { exactJson } from '../../platform/postgres/prisma.ts';
import type { Transaction } from '../../platform/postgres/transaction.ts';
import type { ConnectionStatus } from './schemas.ts';

/** A connection of one tenant, in any project. */
export type ConnectionKey = { tenantId: string; connectionId: string };
/** A connection as seen from a project, for which the connections of other projects do not exist. */
export type ConnectionRef = ConnectionKey & { projectId: string };

export type ConnectionRow = Omit<Connection, 'status' | 'config' | 'account'> & {
  status: ConnectionStatus;
  config: JsonObject;
  account: JsonObject | null;
};
export type CountedRow = ConnectionRow & { usedBy: number };

type Models = Pick<Transaction, 'connection'>;

/** `pending` and `deleting` only exist in rows, not in the API. */
function toRow({ status, config, account, ...row }: Connection): ConnectionRow {
  return {
    ...row,
    status: status as ConnectionStatus,
    config: config as JsonObject,
    account: account as JsonObject | null,
  };
}

/**
 * A row exists before its secret and is deleted after it, so that every secret has a row that leads to it. Meanwhile it
 * is `pending` or `deleting`, and not visible.
 */
const HIDDEN = ['pending', 'deleting'];
const visible = { status: { notIn: HIDDEN } };
const hidden = { status: { in: HIDDEN } };

const byKey = ({ tenantId, connectionId }: ConnectionKey) => ({ id: connectionId, tenantId });
/** Selects the connections of the project and of the workspace. */
const seenBy = (projectId: string) => ({ OR: [{ projectId: null }, { projectId }] });

/** Inserts a row that is not visible yet. `createdBy` stored its secret. */
export async function insertPending(
  prisma: Models,
  row: {
    ref: ConnectionKey;
    /** Null: the whole workspace's. */
    projectId: string | null;
    name: string;
    provider: string;
    service: string;
    config: unknown;
    /** Null: the connection has no account. */
    account: unknown;
    origins: readonly string[];
    tokenOrigin: string | null;
    createdBy: string;
    at: Date;
  },
): Promise<void> {
  const { ref, projectId, name, provider, service, config, account, origins, tokenOrigin, createdBy, at } = row;
  await prisma.connection.create({
    data: {
      ...byKey(ref),
      projectId,
      name,
      provider,
      service,
      config: exactJson(config),
      ...(account === null ? {} : { account: exactJson(account) }),
      origins: [...origins],
      status: 'pending',
      credentialKeys: [],
      tokenOrigin,
      createdBy,
      secretSetBy: createdBy,
      rotatedAt: at,
      createdAt: at,
      updatedAt: at,
    },
  });
}

export type SecretFacts = { keys: readonly string[]; expiresAt: Date | null; rotatedAt: Date };

/** Makes a pending row visible: its secret is stored now. */
export async function activate(
  prisma: Models,
  ref: ConnectionKey,
  { keys, expiresAt, rotatedAt }: SecretFacts,
): Promise<ConnectionRow> {
  const [row] = await prisma.connection.updateManyAndReturn({
    where: { ...byKey(ref), status: 'pending' },
    data: { status: 'active', credentialKeys: [...keys], expiresAt, rotatedAt },
  });
  if (row === undefined) throw new Error('The pending connection no longer exists.');
  return toRow(row);
}

/** Returns the connection, or null if the project does not see it. */
export async function findConnection(prisma: Models, ref: ConnectionRef): Promise<ConnectionRow | null> {
  const row = await prisma.connection.findFirst({ where: { ...byKey(ref), ...seenBy(ref.projectId), ...visible } });
  return row && toRow(row);
}

/** Returns the same with the number of instances and profiles that use it. */
export async function findCounted(prisma: Models, ref: ConnectionRef): Promise<CountedRow | null> {
  // Prisma counts in a subquery that is independent of the joined row: without the id it would
  // count for every connection.
  const uses = { where: { tenantId: ref.tenantId, connectionId: ref.connectionId } };
  const found = await prisma.connection.findFirst({
    where: { ...byKey(ref), ...seenBy(ref.projectId), ...visible },
    include: { _count: { select: { instances: uses, profiles: uses } } },
  });
  if (found === null) return null;
  const { _count: count, ...row } = found;
  return { ...toRow(row), usedBy: count.instances + count.profiles };
}

/** Returns the connections of a service that the project sees, newest first, at most `take`. */
export async function listOfService(
  prisma: Models,
  { tenantId, projectId }: Pick<ConnectionRef, 'tenantId' | 'projectId'>,
  service: string,
  take: number,
): Promise<ConnectionRow[]> {
  const rows = await prisma.connection.findMany({
    where: { tenantId, service, ...seenBy(projectId), ...visible },
    orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
    take,
  });
  return rows.map(toRow);
}

/** Returns the ids of all connections that the project sees, each with the revision of its secret. */
export function listConnectionRevisions(
  prisma: Models,
  { tenantId, projectId }: Pick<ConnectionRef, 'tenantId' | 'projectId'>,
): Promise<{ id: string; rotatedAt: Date }[]> {
  return prisma.connection.findMany({
    where: { tenantId, ...seenBy(projectId), ...visible },
    select: { id: true, rotatedAt: true },
  });
}

export type ConnectionChange = {
  name?: string | undefined;
  config?: unknown;
  account?: unknown;
  /** Set if the secret was written again. */
  secret?: SecretFacts | undefined;
  status?: ConnectionStatus | undefined;
  /** Null clears it. */
  lastError?: string | null | undefined;
  /** Null: unknown. Separate from `secret`, for a change that only causes another token to be fetched. */
  expiresAt?: Date | null | undefined;
  origins?: readonly string[] | undefined;
  /** Null: several people entered its secrets. */
  secretSetBy?: string | null | undefined;
  tokenOrigin?: string | undefined;
  /** Null: shared with the whole workspace. */
  projectId?: string | null | undefined;
};

/**
 * Changes the given fields if `rotatedAt` is still what the caller read; returns null if it is
 * not, or if the row is gone.
 */
export async function updateConnection(
  prisma: Models,
  ref: ConnectionKey & { rotatedAt: Date; at: Date },
  change: ConnectionChange,
): Promise<ConnectionRow | null> {
  const { name, config, account, secret, status, lastError, origins, secretSetBy, tokenOrigin, projectId } = change;
  const [row] = await prisma.connection.updateManyAndReturn({
    where: { ...byKey(ref), rotatedAt: ref.rotatedAt, ...visible },
    // Prisma ignores undefined fields.
    data: {
      name,
      status,
      lastError,
      secretSetBy,
      tokenOrigin,
      projectId,
      ...(config === undefined ? {} : { config: exactJson(config) }),
      ...(account === undefined ? {} : { account: exactJson(account) }),
      ...(secret === undefined ? {} : { credentialKeys: [...secret.keys], rotatedAt: secret.rotatedAt }),
      expiresAt: secret === undefined ? change.expiresAt : secret.expiresAt,
      ...(origins === undefined ? {} : { origins: [...origins] }),
      updatedAt: ref.at,
    },
  });
  return row === undefined ? null : toRow(row);
}

/**
 * Binds the credentials to their first origin, if `setBy` stored them and they are still
 * unbound; returns whether it did.
 */
export async function bindFirstOrigin(
  prisma: Models,
  ref: ConnectionRef,
  { origin, setBy }: { origin: string; setBy: string },
): Promise<boolean> {
  const { count } = await prisma.connection.updateMany({
    where: { ...byKey(ref), ...seenBy(ref.projectId), ...visible, origins: { isEmpty: true }, secretSetBy: setBy },
    data: { origins: [origin] },
  });
  return count === 1;
}

/** Records a use. The caller does so once a minute, not for each use. */
export async function touchConnection(prisma: Models, ref: ConnectionKey, at: Date): Promise<void> {
  await prisma.connection.updateMany({ where: byKey(ref), data: { lastUsedAt: at } });
}

/** Hides a row that is about to be deleted. Returns false if it no longer exists. */
export async function hideConnection(prisma: Models, ref: ConnectionKey): Promise<boolean> {
  const { count } = await prisma.connection.updateMany({
    where: { ...byKey(ref), ...visible },
    data: { status: 'deleting' },
  });
  return count === 1;
}

/** Reverses `hideConnection`. */
export async function showConnection(prisma: Models, ref: ConnectionKey, status: ConnectionStatus): Promise<void> {
  await prisma.connection.updateMany({ where: { ...byKey(ref), status: 'deleting' }, data: { status } });
}

/** Deletes a hidden row, which leaves the users of the connection without one. */
export async function deleteHidden(prisma: Models, ref: ConnectionKey): Promise<void> {
  await prisma.connection.deleteMany({ where: { ...byKey(ref), ...hidden } });
}

/** Returns at most `take` rows, of every tenant, that are being created or deleted. */
export async function listHidden(prisma: Models, take: number): Promise<ConnectionKey[]> {
  const rows = await prisma.connection.findMany({ where: hidden, select: { id: true, tenantId: true }, take });
  return rows.map(({ id, tenantId }) => ({ connectionId: id, tenantId }));
}

/** Returns whether a row is still being created or deleted. */
export async function isHidden(prisma: Models, ref: ConnectionKey): Promise<boolean> {
  return (await prisma.connection.findFirst({ where: { ...byKey(ref), ...hidden }, select: { id: true } })) !== null;
}
