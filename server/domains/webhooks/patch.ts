import type { z } from 'zod';
import type { Context } from '../../contract/context.ts';
import { invalid, notFound } from '../../platform/errors.ts';
import type { Prisma } from '../../platform/postgres/generated/client.ts';
import { transact } from '../../platform/postgres/transaction.ts';
import { resolveAutomation } from './automation.ts';
import { requireStorable } from './extras.ts';
import { type PatchWebhookInput, type PatchWebhookOutput, rotationOverlap } from './schemas.ts';
import { type Rotated, rotateSigningSecret } from './signing-secrets.ts';
import type { WebhookRow } from './store.ts';
import { requireWebhook, toWebhook } from './view.ts';

type Input = z.output<typeof PatchWebhookInput>;

/**
 * PATCH /v1/inbound-webhooks/{id}. AppError 404; 422 `workflow_archived` for switching on what would start an archived workflow,
 * `invalid_automation_token`; 503 where a rotation finds the secret store away, and then nothing was changed.
 */
export async function patchWebhook(ctx: Context, input: Input): Promise<z.input<typeof PatchWebhookOutput>> {
  const { services } = ctx;
  const webhook = await requireWebhook(ctx, input.id);
  if (input.extras) requireStorable(input.extras);
  if (input.rotation_overlap_s !== undefined && !input.rotate_secret) {
    const detail = { path: 'rotation_overlap_s', message: 'is only for a rotation (rotate_secret: true)' };
    throw invalid('Nothing is rotated.', [detail]);
  }
  const automationPatId = input.automation_pat_id === undefined ? undefined : await resolveAutomation(ctx, input);
  await change(ctx, webhook, input, automationPatId);
  const rotated = await rotate(ctx, input);
  const changed = toWebhook(services, await requireWebhook(ctx, input.id));
  return rotated === null ? changed : { ...changed, signing_secret: rotated.secret };
}

async function rotate({ principal, services }: Context, input: Input): Promise<Rotated | null> {
  if (!input.rotate_secret) return null;
  const overlapS = input.rotation_overlap_s ?? rotationOverlap.default;
  const { tenantId } = principal;
  const rotated = await rotateSigningSecret(services, { tenantId, id: input.id }, overlapS);
  const { previousUntil } = rotated;
  await services.prisma.webhookSubscription.updateMany({
    where: { id: input.id, tenantId },
    data: {
      previousSecretExpiresAt: previousUntil === null ? null : new Date(previousUntil),
      updatedAt: new Date(services.clock.now()),
    },
  });
  return rotated;
}

function change(
  { principal, services }: Context,
  webhook: WebhookRow,
  { name, enabled, extras, require_timestamp }: Input,
  automationPatId: string | null | undefined,
): Promise<void> {
  const { tenantId, projectId } = principal;
  return transact(services, async tx => {
    if (enabled) await requireStartable(tx, webhook.workflow_id);
    const { count } = await tx.webhookSubscription.updateMany({
      where: { id: webhook.id, tenantId, projectId },
      data: {
        ...(name === undefined ? {} : { name }),
        ...(enabled === undefined ? {} : { enabled }),
        ...(extras === undefined ? {} : { extras: extras as Prisma.InputJsonObject }),
        ...(require_timestamp === undefined ? {} : { requireTimestamp: require_timestamp }),
        ...(automationPatId === undefined ? {} : { automationPatId }),
        updatedAt: new Date(services.clock.now()),
      },
    });
    if (count === 0) throw notFound('Webhook');
  });
}

/** Locks the workflow, so that it is not archived, and its webhooks switched off, before this one is switched on. */
async function requireStartable(tx: Prisma.TransactionClient, workflowId: string): Promise<void> {
  const [workflow] = await tx.$queryRaw<{ status: string }[]>`
    SELECT status FROM workflows WHERE id = ${workflowId}::uuid FOR SHARE`;
  if (workflow?.status === 'archived') throw invalid('The workflow is archived.', undefined, 'workflow_archived');
}
