import { z } from 'zod';
import type { Services } from '../../operation/services.ts';
import { randomToken } from '../../platform/crypto/digest.ts';
import { egressRefusal } from '../../platform/egress/egress.ts';
import { invalid } from '../../platform/errors.ts';
import { httpFailure } from '../../platform/http-client/failure.ts';
import { notificationSecret } from '../identity/personal-secrets.ts';
import { signedHeaders } from './notice.ts';

/**
 * The address of a person's webhook and its signing secret. One sealed value, since the address of a
 * Slack webhook is secret too.
 */
const WebhookTarget = z.strictObject({ url: z.string(), secret: z.string() });
type WebhookTarget = z.output<typeof WebhookTarget>;
type Person = { tenantId: string; userId: string };

const newSecret = () => `whsec_${randomToken(32)}`;
/** A slower receiver is tried again later. */
const TIMEOUT_MS = 10_000;

/** Returns the webhook of a person; null if there is none. Throws AppError 503. */
export async function readTarget(
  { secrets }: Pick<Services, 'secrets'>,
  { tenantId, userId }: Person,
): Promise<WebhookTarget | null> {
  const stored = await secrets.get(tenantId, notificationSecret(userId));
  return stored === null ? null : (WebhookTarget.safeParse(JSON.parse(stored)).data ?? null);
}

/**
 * Stores an address with a new signing secret, which it returns. Throws AppError 422 (an address that must not be
 * called), 503.
 */
export async function saveTarget(
  services: Pick<Services, 'secrets' | 'egress' | 'config'>,
  { tenantId, userId }: Person,
  url: string,
): Promise<{ secret: string; origin: string }> {
  const origin = await checkUrl(services, url);
  const secret = newSecret();
  await services.secrets.put(
    tenantId,
    notificationSecret(userId),
    JSON.stringify({ url, secret } satisfies WebhookTarget),
  );
  return { secret, origin };
}

/** Returns the origin of an address that may be called. */
async function checkUrl({ egress, config }: Pick<Services, 'egress' | 'config'>, url: string): Promise<string> {
  const refuse = (message: string, code: string) => invalid(message, [{ path: 'webhook_url', message, code }], code);
  if (!URL.canParse(url)) throw refuse('The address of the webhook is not a URL.', 'invalid_url');
  const { protocol, origin } = new URL(url);
  // Plain http only if the operator allows private addresses: public receivers have https.
  const mayBePlain = protocol === 'http:' && config.egress.allowPrivate.length > 0;
  if (protocol !== 'https:' && !mayBePlain) throw refuse('The address of the webhook must be https.', 'https_required');
  const refusal = await egressRefusal(egress, url);
  if (refusal !== null) throw refuse(refusal.message, refusal.code);
  return origin;
}

/**
 * Posts a signed body to a webhook. Returns why it did not arrive; null if it did. Rejects only with defects,
 * and when `closing` aborts.
 */
export async function postTo(
  { egress, clock }: Pick<Services, 'egress' | 'clock'>,
  { url, secret }: WebhookTarget,
  body: string,
  closing?: AbortSignal,
): Promise<string | null> {
  const tooLong = AbortSignal.timeout(TIMEOUT_MS);
  const { host } = new URL(url);
  try {
    const response = await egress.fetch(url, {
      method: 'POST',
      headers: signedHeaders(secret, body, clock.now()),
      body,
      // A redirect would carry the notification to an address that the person did not name.
      redirect: 'manual',
      signal: closing === undefined ? tooLong : AbortSignal.any([tooLong, closing]),
    });
    await response.body?.cancel();
    return response.ok ? null : `${host} answered ${response.status}.`;
  } catch (error) {
    if (closing?.aborted === true) throw error;
    if (tooLong.aborted) return `${host} did not answer within ${TIMEOUT_MS / 1000} seconds.`;
    const failure = httpFailure(error, host);
    if (failure === undefined) throw error;
    return failure.message;
  }
}
