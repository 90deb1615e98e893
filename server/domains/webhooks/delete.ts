import type { z } from 'zod';
import type { Context } from '../../operation/context.ts';
import { notFound } from '../../platform/errors.ts';
import type { WebhookRef } from './schemas.ts';
import { deleteSecrets } from './signing-secrets.ts';
import { deleteWebhookRow } from './store.ts';

/**
 * DELETE /v1/inbound-webhooks/{id}: deletes a webhook with its deliveries and secrets; its runs stay. Throws AppError
 * 404.
 */
export async function deleteWebhook(
  { principal, services }: Context,
  { id }: z.output<typeof WebhookRef>,
): Promise<undefined> {
  if (!(await deleteWebhookRow(services.prisma, principal, id))) throw notFound('Webhook');
  try {
    await deleteSecrets(services, { tenantId: principal.tenantId, id });
  } catch (error) {
    // The webhook is deleted, as requested; nothing refers to the secret any more.
    services.logger.warn({ err: error, webhook_id: id }, 'the secrets of a deleted webhook were not deleted');
  }
}
