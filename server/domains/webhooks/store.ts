import type { WebhookDelivery, WebhookSubscription } from '../../platform/postgres/generated/client.ts';
import { exactJson } from '../../platform/postgres/prisma.ts';
import type { Transaction } from '../../platform/postgres/transaction.ts';
import type { ProjectScope } from './queries.ts';

type Models = Pick<Transaction, 'webhookSubscription'>;
type NewWebhook = Pick<
  WebhookSubscription,
  | 'id'
  | 'tenantId'
  | 'projectId'
  | 'workflowId'
  | 'name'
  | 'automationPatId'
  | 'requireTimestamp'
  | 'preset'
  | 'username'
  | 'hasSecret'
  | 'createdBy'
  | 'createdAt'
>;

export function countWebhooks(tx: Models, { tenantId, projectId }: ProjectScope): Promise<number> {
  return tx.webhookSubscription.count({ where: { tenantId, projectId } });
}

/** Inserts an enabled webhook. */
export async function insertWebhook(
  tx: Models,
  { extras, createdAt, ...webhook }: NewWebhook & { extras: Record<string, unknown> },
): Promise<void> {
  const data = { ...webhook, extras: exactJson(extras), enabled: true, createdAt, updatedAt: createdAt };
  await tx.webhookSubscription.create({ data });
}

type WebhookChange = {
  name?: string | undefined;
  enabled?: boolean | undefined;
  extras?: Record<string, unknown> | undefined;
  requireTimestamp?: boolean | undefined;
  automationPatId?: string | null | undefined;
};

/** Changes the given fields. Returns false if the project does not have the webhook. */
export async function updateWebhook(
  tx: Models,
  { tenantId, projectId, id, at }: ProjectScope & { id: string; at: Date },
  { name, enabled, extras, requireTimestamp, automationPatId }: WebhookChange,
): Promise<boolean> {
  const { count } = await tx.webhookSubscription.updateMany({
    where: { id, tenantId, projectId },
    data: {
      ...(name === undefined ? {} : { name }),
      ...(enabled === undefined ? {} : { enabled }),
      ...(extras === undefined ? {} : { extras: exactJson(extras) }),
      ...(requireTimestamp === undefined ? {} : { requireTimestamp }),
      ...(automationPatId === undefined ? {} : { automationPatId }),
      updatedAt: at,
    },
  });
  return count > 0;
}

/**
 * Records a new signing secret, and the time until which the previous one is accepted (null: it is no longer accepted).
 */
export async function saveRotation(
  prisma: Models,
  { tenantId, id }: { tenantId: string; id: string },
  previousSecretExpiresAt: Date | null,
  at: Date,
): Promise<void> {
  await prisma.webhookSubscription.updateMany({
    where: { id, tenantId },
    data: { previousSecretExpiresAt, hasSecret: true, updatedAt: at },
  });
}

/** Deletes a webhook with its deliveries. Returns false if it does not exist. */
export async function deleteWebhookRow(
  prisma: Models,
  { tenantId, projectId }: ProjectScope,
  id: string,
): Promise<boolean> {
  const { count } = await prisma.webhookSubscription.deleteMany({ where: { tenantId, projectId, id } });
  return count > 0;
}

/**
 * Returns deliveries of a webhook, newest first, at most `take` after the id `after`. The caller has
 * checked that it may see it.
 */
export function listDeliveryRows(
  prisma: Pick<Transaction, 'webhookDelivery'>,
  { tenantId, subscriptionId }: { tenantId: string; subscriptionId: string },
  after: string | null,
  take: number,
): Promise<WebhookDelivery[]> {
  return prisma.webhookDelivery.findMany({
    where: { subscriptionId, tenantId, ...(after === null ? {} : { id: { lt: after } }) },
    orderBy: { id: 'desc' },
    take,
  });
}
