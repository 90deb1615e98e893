import type { z } from 'zod';
import type { Context } from '../../operation/context.ts';
import { invalid, notFound } from '../../platform/errors.ts';
import { type Transaction, transact } from '../../platform/postgres/transaction.ts';
import { resolveAutomation } from './automation.ts';
import { requireStorable } from './extras.ts';
import { PRESETS } from './presets/catalog.ts';
import { requireAutomation, requirePresetFields } from './presets/fields.ts';
import { secretFor, unusableSecret } from './presets/secrets.ts';
import { lockWorkflowStatus, type WebhookRow, type WorkflowKey } from './queries.ts';
import { type PatchWebhookInput, type PatchWebhookOutput, rotationOverlap } from './schemas.ts';
import { renewVerifyToken, rotateSigningSecret } from './signing-secrets.ts';
import { saveRotation, updateWebhook } from './store.ts';
import { requireWebhook, shownAddress, toWebhook } from './view.ts';

type Input = z.output<typeof PatchWebhookInput>;

/**
 * PATCH /v1/inbound-webhooks/{id}. Throws AppError 404; 422 `workflow_archived` for enabling a webhook of an archived
 * workflow, `invalid_automation_token`, `automation_required`, `invalid_secret`; 503 if the secret store is unavailable
 * during a rotation; nothing is changed then.
 */
export async function patchWebhook(ctx: Context, input: Input): Promise<z.input<typeof PatchWebhookOutput>> {
  const { services } = ctx;
  const webhook = await requireWebhook(ctx, input.id);
  if (input.extras) requireStorable(input.extras);
  requirePresetFields(webhook.preset, {
    username: webhook.username,
    requireTimestamp: input.require_timestamp ?? webhook.require_timestamp,
  });
  const renewed = newSecretOf(webhook, input);
  requireVerifyToken(webhook, input);
  const automationPatId = input.automation_pat_id === undefined ? undefined : await resolveAutomation(ctx, input);
  if (automationPatId !== undefined) requireAutomation(webhook.preset, automationPatId);
  await change(ctx, webhook, input, automationPatId);
  if (renewed !== null) await rotate(ctx, input, renewed.secret);
  const changed = toWebhook(services, await requireWebhook(ctx, input.id));
  const verifyToken = input.rotate_verify_token
    ? { verify_token: await renewVerifyToken(services, webhookRef(ctx, input)) }
    : {};
  if (renewed === null || !renewed.shown) return { ...changed, ...verifyToken };
  return { ...changed, ...verifyToken, ...shownAddress(changed, renewed.secret), signing_secret: renewed.secret };
}

/**
 * Returns the secret with which the request replaces the current one; null if it replaces none. Throws AppError 422.
 */
function newSecretOf(
  { preset }: WebhookRow,
  { rotate_secret, signing_secret, rotation_overlap_s }: Input,
): { secret: string; shown: boolean } | null {
  if (!rotate_secret && signing_secret === undefined) {
    if (rotation_overlap_s === undefined) return null;
    const message = 'is only for a rotation (rotate_secret: true, or a signing_secret)';
    throw invalid('The secret was not rotated.', [{ path: 'rotation_overlap_s', message }]);
  }
  const { secret, shown } = secretFor(preset, signing_secret);
  if (secret === null) throw unusableSecret('is required: only the sender can give the secret of this preset');
  return { secret, shown };
}

const webhookRef = ({ principal: { tenantId } }: Context, { id }: Input) => ({ tenantId, id });

/** Throws AppError 422 if the request renews a verify token that the preset does not have. */
function requireVerifyToken({ preset }: WebhookRow, { rotate_verify_token }: Input): void {
  if (!rotate_verify_token || PRESETS[preset].hasVerifyToken) return;
  const details = [{ path: 'rotate_verify_token', message: 'is only for the preset meta' }];
  throw invalid('The fields do not fit the preset.', details);
}

async function rotate(ctx: Context, input: Input, secret: string): Promise<void> {
  const { services } = ctx;
  const overlapS = input.rotation_overlap_s ?? rotationOverlap.default;
  const ref = webhookRef(ctx, input);
  const previousUntil = await rotateSigningSecret(services, ref, { secret, overlapS });
  const at = new Date(services.clock.now());
  await saveRotation(services.prisma, ref, previousUntil === null ? null : new Date(previousUntil), at);
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

/** Locks the workflow, so that it is not archived, and its webhooks disabled, before this one is enabled. */
async function requireStartable(tx: Transaction, workflow: WorkflowKey): Promise<void> {
  if ((await lockWorkflowStatus(tx, workflow)) !== 'archived') return;
  throw invalid('The workflow is archived.', undefined, 'workflow_archived');
}
