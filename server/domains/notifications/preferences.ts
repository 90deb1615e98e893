import type { z } from 'zod';
import type { Context } from '../../operation/context.ts';
import { invalid, unauthenticated } from '../../platform/errors.ts';
import { requireEveryScope } from '../identity/authority.ts';
import { deletePersonalSecrets } from '../identity/personal-secrets.ts';
import { type PreferencesOfPerson, readPreferences, savePreferences } from './preference-store.ts';
import type { NotificationPreferences, PatchPreferencesInput, PatchPreferencesOutput } from './schemas.ts';
import { readTarget, saveTarget } from './webhook-target.ts';

/** GET /v1/me/notifications: returns the person's preferences in this workspace. */
export async function getPreferences(ctx: Context): Promise<z.input<typeof NotificationPreferences>> {
  return toWire(ctx, await requirePreferences(ctx));
}

/**
 * PATCH /v1/me/notifications. Throws AppError 403; 422 `mail_unavailable`, `address_unconfirmed`, `webhook_missing`,
 * `invalid_url`, `https_required`, `egress_refused`; 503 if the secret store is unavailable.
 */
export async function patchPreferences(
  ctx: Context,
  input: z.output<typeof PatchPreferencesInput>,
): Promise<z.input<typeof PatchPreferencesOutput>> {
  const { principal, services } = ctx;
  requireEveryScope(principal);
  const before = await requirePreferences(ctx);
  refuseUnusable(ctx, before, input);
  const changed = await changeWebhook(ctx, input);
  const kinds = {
    ...(input.browser && { browser: [...new Set(input.browser)] }),
    ...(input.email && { email: [...new Set(input.email)] }),
    ...(input.webhook && { webhook: [...new Set(input.webhook)] }),
  };
  const webhook = changed.origin === undefined ? {} : { webhookOrigin: changed.origin };
  await savePreferences(services.pool, principal, { ...kinds, ...webhook }, services.clock.now());
  // The row no longer refers to the webhook, so its secret is deleted last.
  if (changed.origin === null) await deletePersonalSecrets(services, principal);
  const after = toWire(ctx, await requirePreferences(ctx));
  return changed.secret === undefined ? after : { ...after, webhook_secret: changed.secret };
}

/** Returns the preferences of the caller. Throws AppError 401 if the caller was removed since authentication. */
async function requirePreferences({ principal, services }: Context): Promise<PreferencesOfPerson> {
  const found = await readPreferences(services.pool, principal);
  if (found === null) throw unauthenticated();
  return found;
}

/** Throws AppError 422 for kinds of a channel that cannot deliver them. */
function refuseUnusable(
  { services }: Context,
  { confirmed, webhookOrigin }: PreferencesOfPerson,
  input: z.output<typeof PatchPreferencesInput>,
): void {
  if (input.email !== undefined && input.email.length > 0) {
    if (services.mail === null) throw invalid('This deployment sends no mail.', undefined, 'mail_unavailable');
    if (!confirmed) throw invalid('Confirm your email address first.', undefined, 'address_unconfirmed');
  }
  const hasWebhook = input.webhook_url === undefined ? webhookOrigin !== null : input.webhook_url !== null;
  const needsWebhook = (input.webhook?.length ?? 0) > 0 || input.rotate_webhook_secret === true;
  if (needsWebhook && !hasWebhook) throw invalid('Set up the webhook first.', undefined, 'webhook_missing');
}

/** Stores or replaces the webhook. `origin` is undefined if it is unchanged, and null if it is removed. */
async function changeWebhook(
  { principal, services }: Context,
  { webhook_url: url, rotate_webhook_secret: rotate }: z.output<typeof PatchPreferencesInput>,
): Promise<{ origin?: string | null; secret?: string }> {
  if (url === null) return { origin: null };
  if (url !== undefined) return saveTarget(services, principal, url);
  if (rotate !== true) return {};
  const target = await readTarget(services, principal);
  if (target === null) throw invalid('Set up the webhook first.', undefined, 'webhook_missing');
  return saveTarget(services, principal, target.url);
}

function toWire(
  { services }: Context,
  { browser, email, webhook, webhookOrigin, address, confirmed }: PreferencesOfPerson,
): z.input<typeof NotificationPreferences> {
  return {
    browser,
    email,
    webhook,
    email_address: services.mail === null ? null : { address, confirmed },
    webhook_origin: webhookOrigin,
  };
}
