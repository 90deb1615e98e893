import type { z } from 'zod';
import type { Context } from '../../contract/context.ts';
import { invalid, notFound } from '../../platform/errors.ts';
import { newId } from '../../platform/ids.ts';
import type { Prisma } from '../../platform/postgres/generated/client.ts';
import { transact } from '../../platform/postgres/transaction.ts';
import { resolveAutomation } from './automation.ts';
import { requireStorable } from './extras.ts';
import { type CreateWebhookInput, type CreateWebhookOutput, maxWebhooks } from './schemas.ts';
import { signingSecretName } from './signature.ts';
import { createSigningSecret } from './signing-secrets.ts';
import { requireWebhook, toWebhook } from './view.ts';

/**
 * POST /v1/inbound-webhooks (interface.md, Inbound webhooks). AppError 404 for a workflow the project does not have; 422
 * `workflow_archived`, `too_many_webhooks`, `invalid_automation_token`; 503 where the secret store is away.
 */
export async function createWebhook(
  ctx: Context,
  input: z.output<typeof CreateWebhookInput>,
): Promise<z.input<typeof CreateWebhookOutput>> {
  const { principal, services } = ctx;
  const { tenantId, projectId } = principal;
  requireStorable(input.extras);
  const automationPatId = await resolveAutomation(ctx, input);
  const id = newId();
  const at = new Date(services.clock.now());
  // The secret first: a webhook without one could never be delivered to.
  const secret = await createSigningSecret(services, { tenantId, id });
  try {
    await transact(services, async tx => {
      await admit(tx, { tenantId, projectId, workflowId: input.workflow_id });
      await tx.webhookSubscription.create({
        data: {
          id,
          tenantId,
          projectId,
          workflowId: input.workflow_id,
          name: input.name,
          enabled: true,
          automationPatId,
          extras: input.extras as Prisma.InputJsonObject,
          requireTimestamp: input.require_timestamp,
          createdBy: principal.userId,
          createdAt: at,
          updatedAt: at,
        },
      });
    });
  } catch (error) {
    await services.secrets.delete(tenantId, signingSecretName(id)).catch(() => undefined); // the first error is the one to tell
    throw error;
  }
  const subscription = toWebhook(services, await requireWebhook(ctx, id));
  const { ingress_url, ingress_path } = subscription;
  return { subscription, signing_secret: secret, ingress_url, ingress_path };
}

/** Locks the project, so that two cannot both be the last one; and the workflow, so that it is not archived meanwhile. */
async function admit(
  tx: Prisma.TransactionClient,
  { tenantId, projectId, workflowId }: { tenantId: string; projectId: string; workflowId: string },
): Promise<void> {
  await tx.$queryRaw`SELECT 1 FROM projects WHERE id = ${projectId}::uuid FOR UPDATE`;
  const [workflow] = await tx.$queryRaw<{ status: string }[]>`
    SELECT status FROM workflows WHERE id = ${workflowId}::uuid AND tenant_id = ${tenantId} AND project_id = ${projectId}::uuid
       FOR SHARE`;
  if (workflow === undefined) throw notFound('Workflow');
  if (workflow.status === 'archived') throw invalid('The workflow is archived.', undefined, 'workflow_archived');
  if ((await tx.webhookSubscription.count({ where: { tenantId, projectId } })) < maxWebhooks) return;
  throw invalid(`A project has at most ${maxWebhooks} webhooks.`, undefined, 'too_many_webhooks');
}
