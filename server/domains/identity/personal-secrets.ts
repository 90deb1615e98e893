import type { Services } from '../../operation/services.ts';

/** The name of the secret that holds the webhook of a person's notifications. */
export const notificationSecret = (userId: string): string => `notification-webhook/${userId}`;

/**
 * Deletes the secrets of a person in a workspace: the webhook of the person's notifications. Throws AppError 503.
 */
export async function deletePersonalSecrets(
  { secrets }: Pick<Services, 'secrets'>,
  { tenantId, userId }: { tenantId: string; userId: string },
): Promise<void> {
  await secrets.delete(tenantId, notificationSecret(userId));
}
