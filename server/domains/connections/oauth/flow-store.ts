import type { JsonObject } from '../../../platform/json.ts';
import type { OauthFlow } from '../../../platform/postgres/generated/client.ts';
import { exactJson } from '../../../platform/postgres/prisma.ts';
import type { Transaction } from '../../../platform/postgres/transaction.ts';

type Models = Pick<Transaction, 'oauthFlow'>;
export type Flow = { id: string; request: JsonObject; expiresAt: Date };
export type FlowOwner = { tenantId: string; userId: string };

/** Inserts a flow that has just started. */
export async function insertFlow(
  prisma: Models,
  {
    id,
    stateHash,
    owner,
    kind,
    request,
    at,
    expiresAt,
  }: {
    id: string;
    stateHash: Buffer;
    owner: FlowOwner;
    kind: string;
    request: JsonObject;
    at: Date;
    expiresAt: Date;
  },
): Promise<void> {
  const { tenantId, userId } = owner;
  const data = { id, stateHash: new Uint8Array(stateHash), tenantId, userId, kind, createdAt: at, expiresAt };
  await prisma.oauthFlow.create({ data: { ...data, request: exactJson(request) } });
}

/** Returns the flow if this user started it in this tenant; otherwise null. */
export async function findFlow(
  prisma: Models,
  { tenantId, userId }: FlowOwner,
  kind: string,
  stateHash: Buffer,
): Promise<Flow | null> {
  const row = await prisma.oauthFlow.findFirst({
    where: { stateHash: new Uint8Array(stateHash), tenantId, userId, kind },
  });
  return row && { id: row.id, request: row.request as JsonObject, expiresAt: row.expiresAt };
}

/** Deletes a flow, because a flow is finished once. Returns false if a concurrent request has already deleted it. */
export async function deleteFlow(prisma: Models, tenantId: string, id: string): Promise<boolean> {
  return (await prisma.oauthFlow.deleteMany({ where: { id, tenantId } })).count === 1;
}

/** Returns flows of every tenant that were started and never finished. */
export function listLapsedFlows(
  prisma: Models,
  now: Date,
  take: number,
): Promise<Pick<OauthFlow, 'id' | 'tenantId'>[]> {
  return prisma.oauthFlow.findMany({
    where: { expiresAt: { lte: now } },
    select: { id: true, tenantId: true },
    orderBy: { expiresAt: 'asc' },
    take,
  });
}
