import type { z } from 'zod';
import type { Context } from '../../operation/context.ts';
import { invalid, notFound } from '../../platform/errors.ts';
import { newId } from '../../platform/ids.ts';
import { type Transaction, transact } from '../../platform/postgres/transaction.ts';
import { resolveAutomation } from './automation.ts';
import { requireStorable } from './extras.ts';
import { PRESETS } from './presets/catalog.ts';
import { requireAutomation, requirePresetFields } from './presets/fields.ts';
import { secretFor } from './presets/secrets.ts';
import { lockProject, lockWorkflowStatus, type WorkflowKey } from './queries.ts';
import { type CreateWebhookInput, type CreateWebhookOutput, MAX_WEBHOOKS } from './schemas.ts';
import { deleteSecrets, renewVerifyToken, storeSigningSecret } from './signing-secrets.ts';
import { countWebhooks, insertWebhook } from './store.ts';
import { requireWebhook, shownAddress, toWebhook } from './view.ts';

/**
 * POST /v1/inbound-webhooks (docs/specification/webhooks.md#subscription). Throws AppError 404 for a workflow that the
 * project does not have; 422 `workflow_archived`, `too_many_webhooks`, `invalid_automation_token`,
 * `automation_required`, `invalid_secret`; 503 if the secret store is unavailable.
 */
export async function createWebhook(
  ctx: Context,
  input: z.output<typeof CreateWebhookInput>,
): Promise<z.input<typeof CreateWebhookOutput>> {
  const { principal, services } = ctx;
  const { tenantId, projectId } = principal;
  const { preset, username = null } = input;
  requireStorable(input.extras);
  requirePresetFields(preset, { username, requireTimestamp: input.require_timestamp });
  const { secret, shown } = secretFor(preset, input.signing_secret);
  const automationPatId = await resolveAutomation(ctx, input);
  requireAutomation(preset, automationPatId);
  const id = newId();
  const at = new Date(services.clock.now());
  // The secret is stored first: a webhook without its secret could never be delivered to.
  if (secret !== null) await storeSigningSecret(services, { tenantId, id }, secret);
  const verifyToken = PRESETS[preset].hasVerifyToken ? await renewVerifyToken(services, { tenantId, id }) : null;
  try {
    await transact(services, async tx => {
      await lockForNewWebhook(tx, { tenantId, projectId, workflowId: input.workflow_id });
      await insertWebhook(tx, {
        id,
        tenantId,
        projectId,
        workflowId: input.workflow_id,
        name: input.name,
        automationPatId,
        extras: input.extras,
        requireTimestamp: input.require_timestamp,
        preset,
        username,
        hasSecret: secret !== null,
        createdBy: principal.userId,
        createdAt: at,
      });
    });
  } catch (error) {
    await deleteSecrets(services, { tenantId, id }).catch(() => undefined); // report the first error
    throw error;
  }
  const subscription = toWebhook(services, await requireWebhook(ctx, id));
  return {
    subscription,
    signing_secret: shown ? secret : null,
    ...(verifyToken === null ? {} : { verify_token: verifyToken }),
    ...shownAddress(subscription, secret),
  };
}

/**
 * Locks the project, so that two concurrent requests cannot both create the last permitted webhook, and the workflow,
 * so that it is not archived meanwhile.
 */
async function lockForNewWebhook(tx: Transaction, workflow: WorkflowKey): Promise<void> {
  await lockProject(tx, workflow);
  const status = await lockWorkflowStatus(tx, workflow);
  if (status === null) throw notFound('Workflow');
  if (status === 'archived') throw invalid('The workflow is archived.', undefined, 'workflow_archived');
  if ((await countWebhooks(tx, workflow)) < MAX_WEBHOOKS) return;
  throw invalid(`A project has at most ${MAX_WEBHOOKS} webhooks.`, undefined, 'too_many_webhooks');
}
