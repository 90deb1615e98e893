import type { z } from 'zod';
import type { Context } from '../../operation/context.ts';
import { AppError, invalid } from '../../platform/errors.ts';
import { MailError } from '../../platform/mail/mailer.ts';
import { requireEveryScope } from '../identity/authority.ts';
import { testMailOf, testWebhookBody } from './notice.ts';
import { readPreferences } from './preference-store.ts';
import type { TestChannelInput, TestChannelOutput } from './schemas.ts';
import { postTo, readTarget } from './webhook-target.ts';

/**
 * POST /v1/me/notifications/test: sends a test to the person and answers with its outcome. Throws AppError 403; 422
 * `mail_unavailable`, `address_unconfirmed`, `webhook_missing`; 429; 503 if the secret store is unavailable.
 */
export async function testChannel(
  ctx: Context,
  { channel }: z.output<typeof TestChannelInput>,
): Promise<z.input<typeof TestChannelOutput>> {
  requireEveryScope(ctx.principal);
  const reason = channel === 'email' ? await testMail(ctx) : await testWebhook(ctx);
  return { delivered: reason === null, reason };
}

async function testMail(ctx: Context): Promise<string | null> {
  const { principal, services } = ctx;
  const { mail, pool, config } = services;
  if (mail === null) throw invalid('This deployment sends no mail.', undefined, 'mail_unavailable');
  const preferences = await readPreferences(pool, principal);
  if (preferences?.confirmed !== true) {
    throw invalid('Confirm your email address first.', undefined, 'address_unconfirmed');
  }
  await takeTest(ctx);
  try {
    await mail.send({ to: preferences.address, ...testMailOf(config.http.url) });
    return null;
  } catch (error) {
    if (error instanceof MailError) return error.message;
    throw error;
  }
}

async function testWebhook(ctx: Context): Promise<string | null> {
  const { principal, services } = ctx;
  const target = await readTarget(services, principal);
  if (target === null) throw invalid('Set up the webhook first.', undefined, 'webhook_missing');
  await takeTest(ctx);
  return postTo(services, target, testWebhookBody());
}

/** Throws AppError 429 for more tests than a person needs. */
async function takeTest({ principal, services }: Context): Promise<void> {
  const taken = await services.rateLimiter.take('notification_test', `notification-test:${principal.userId}`);
  if (taken.allowed) return;
  throw new AppError(429, 'rate_limited', 'Too many tests; try again later.', {
    headers: { 'Retry-After': String(Math.max(1, taken.resetSeconds)) },
  });
}
