import type { z } from 'zod';
import type { Context } from '../../contract/context.ts';
import { invalid, notFound } from '../../platform/errors.ts';
import { type Transaction, transact } from '../../platform/postgres/transaction.ts';
import { resolveAutomation } from './automation.ts';
import { requireStorable } from './extras.ts';
import { type PatchWebhookInput, type PatchWebhookOutput, rotationOverlap } from './schemas.ts';
import { type Rotated, rotateSigningSecret } from './signing-secrets.ts';
import { lockWorkflowStatus, type WebhookRow, type WorkflowKey } from './sql/store.ts';
import { saveRotation, updateWebhook } from './store.ts';
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
    throw invalid('The secret was not rotated.', [detail]);
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
  const at = new Date(services.clock.now());
  await saveRotation(
    services.prisma,
    { tenantId, id: input.id },
    previousUntil === null ? null : new Date(previousUntil),
    at,
  );
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
    if (enabled) await requireStartable(tx, { tenantId, projectId, workflowId: webhook.workflow_id });
    const changed = await updateWebhook(
      tx,
      { tenantId, projectId, id: webhook.id, at: new Date(services.clock.now()) },
      { name, enabled, extras, requireTimestamp: require_timestamp, automationPatId },
    );
    if (!changed) throw notFound('Webhook');
  });
}

/** Locks the workflow, so that it is not archived, and its webhooks switched off, before this one is switched on. */
async function requireStartable(tx: Transaction, workflow: WorkflowKey): Promise<void> {
  if ((await lockWorkflowStatus(tx, workflow)) !== 'archived') return;
  throw invalid('The workflow is archived.', undefined, 'workflow_archived');
}
