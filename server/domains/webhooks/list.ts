import { z } from 'zod';
import type { Context } from '../../operation/context.ts';
import { cutPage, decodeCursor, TimeIdKey } from '../../operation/cursor.ts';
import { Id } from '../../operation/wire.ts';
import { listWebhookRows } from './queries.ts';
import type {
  ListDeliveriesInput,
  ListDeliveriesOutput,
  ListWebhooksInput,
  ListWebhooksOutput,
  Webhook,
  WebhookRef,
} from './schemas.ts';
import { listDeliveryRows } from './store.ts';
import { requireWebhook, toDelivery, toWebhook } from './view.ts';

const DeliveryKey = z.tuple([Id]);

/** GET /v1/inbound-webhooks: returns the project's webhooks, newest first, never with a secret. */
export async function listWebhooks(
  { principal, services }: Context,
  input: z.output<typeof ListWebhooksInput>,
): Promise<z.input<typeof ListWebhooksOutput>> {
  const key = decodeCursor(TimeIdKey, input.cursor);
  const rows = await listWebhookRows(services.pool, principal, {
    workflowId: input.workflow_id,
    after: key && { at: new Date(key[0]), id: key[1] },
    limit: input.limit + 1,
  });
  const page = cutPage(rows, input.limit, row => [row.created_at.getTime(), row.id]);
  return { subscriptions: page.rows.map(row => toWebhook(services, row)), next_cursor: page.next_cursor };
}

/** GET /v1/inbound-webhooks/{id}. Throws AppError 404. */
export async function getWebhook(ctx: Context, { id }: z.output<typeof WebhookRef>): Promise<z.input<typeof Webhook>> {
  return toWebhook(ctx.services, await requireWebhook(ctx, id));
}

/** GET /v1/inbound-webhooks/{id}/deliveries: returns the deliveries of a webhook, newest first. Throws AppError 404. */
export async function listDeliveries(
  ctx: Context,
  input: z.output<typeof ListDeliveriesInput>,
): Promise<z.input<typeof ListDeliveriesOutput>> {
  const { id: subscriptionId } = await requireWebhook(ctx, input.id);
  const after = decodeCursor(DeliveryKey, input.cursor)?.[0] ?? null;
  const { tenantId } = ctx.principal;
  const rows = await listDeliveryRows(ctx.services.prisma, { tenantId, subscriptionId }, after, input.limit + 1);
  const page = cutPage(rows, input.limit, row => [row.id]);
  return { deliveries: page.rows.map(toDelivery), next_cursor: page.next_cursor };
}
