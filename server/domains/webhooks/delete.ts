import type { z } from 'zod';
import type { Context } from '../../contract/context.ts';
import { notFound } from '../../platform/errors.ts';
import type { WebhookRef } from './schemas.ts';
import { signingSecretName } from './signature.ts';
import { deleteWebhookRow } from './store.ts';

/** DELETE /v1/inbound-webhooks/{id}: with its deliveries and its secret; its runs stay. AppError 404. */
export async function deleteWebhook(
  { principal, services }: Context,
  { id }: z.output<typeof WebhookRef>,
): Promise<undefined> {
  if (!(await deleteWebhookRow(services.prisma, principal, id))) throw notFound('Webhook');
  try {
    await services.secrets.delete(principal.tenantId, signingSecretName(id));
  } catch (error) {
    // The webhook is deleted, as requested; nothing refers to the secret any more.
    services.logger.warn({ err: error, webhook_id: id }, 'the signing secret of a deleted webhook was not deleted');
  }
}
