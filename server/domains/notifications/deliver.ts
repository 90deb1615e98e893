import type { Services } from '../../operation/services.ts';
import { lineageOf } from '../../orchestrator/core/index.ts';
import { HOUR_MS, MINUTE_MS } from '../../platform/clock.ts';
import { type CallerLineage, withLineage } from '../../platform/lineage.ts';
import { MailError } from '../../platform/mail/mailer.ts';
import { type Claimed, type ClaimLimits, claimDue, findStarts, saveOutcome } from './delivery-store.ts';
import { mailOf, type Notice, webhookBodyOf } from './notice.ts';
import { postTo, readTarget } from './webhook-target.ts';

/** The delay until the next attempt, by the number of attempts so far: eight attempts within 22 hours. */
const RETRY_AFTER_MS: readonly number[] = [
  0,
  MINUTE_MS,
  5 * MINUTE_MS,
  15 * MINUTE_MS,
  HOUR_MS,
  2 * HOUR_MS,
  6 * HOUR_MS,
  12 * HOUR_MS,
  // The delay after the last attempt: if the process died during that attempt, the delivery is still pending.
  HOUR_MS,
];
const MAX_ATTEMPTS = RETRY_AFTER_MS.length - 1;
const LIMITS: ClaimLimits = { recipients: 20, perMessage: 50 };

type DeliveryServices = Pick<Services, 'pool' | 'clock' | 'logger' | 'mail' | 'secrets' | 'egress' | 'config'>;

/**
 * Attempts the deliveries that are due, with one message for each recipient. Returns how many deliveries were
 * attempted. A delivery that fails is attempted again later, and counts as failed after the last attempt. If `closing`
 * aborts, the remaining deliveries are left to the next process.
 */
export async function deliverDue(services: DeliveryServices, closing?: AbortSignal): Promise<number> {
  const claimed = await claimDue(services.pool, services.clock.now(), RETRY_AFTER_MS, LIMITS);
  const messages = Map.groupBy(claimed, ({ tenantId, userId, channel }) => `${tenantId}/${userId}/${channel}`);
  await Promise.all([...messages.values()].map(message => attempt(services, message, closing)));
  return claimed.length;
}

async function attempt(
  services: DeliveryServices,
  message: readonly Claimed[],
  closing: AbortSignal | undefined,
): Promise<void> {
  const { pool, clock, logger } = services;
  const [recipient] = message;
  if (recipient === undefined) return;
  const save = (
    some: readonly Claimed[],
    state: 'pending' | 'delivered' | 'failed' | 'skipped',
    reason: string | null,
  ) => saveOutcome(pool, recipient, some, { state, reason }, clock.now());
  for (const [reason, some] of Map.groupBy(message, ({ obsolete }) => obsolete)) {
    if (reason !== null) await save(some, 'skipped', reason);
  }
  const wanted = message.filter(({ obsolete }) => obsolete === null);
  const lost = wanted.filter(({ attempts }) => attempts > MAX_ATTEMPTS);
  await save(lost, 'failed', 'The service stopped during the last attempt.');
  const current = wanted.filter(({ attempts }) => attempts <= MAX_ATTEMPTS);
  if (current.length === 0) return;
  const result = await send(services, recipient, current.map(toNotice), closing);
  if (result.state !== 'not_delivered') return save(current, result.state, result.reason);
  const last = current.filter(({ attempts }) => attempts === MAX_ATTEMPTS);
  await save(last, 'failed', result.reason);
  const again = current.filter(({ attempts }) => attempts < MAX_ATTEMPTS);
  await save(again, 'pending', result.reason);
  if (last.length > 0) {
    const { tenantId, userId, channel } = recipient;
    logger.warn({ tenantId, userId, channel, deliveries: last.length }, 'notifications were not delivered');
  }
}

type Sent = { state: 'delivered'; reason: null } | { state: 'skipped' | 'not_delivered'; reason: string };
const delivered: Sent = { state: 'delivered', reason: null };

/** Sends one message. Never rejects: an unexpected error is logged and leads to another attempt. */
async function send(
  services: DeliveryServices,
  recipient: Claimed,
  notices: readonly Notice[],
  closing: AbortSignal | undefined,
): Promise<Sent> {
  try {
    return recipient.channel === 'email'
      ? await sendMail(services, recipient, notices)
      : await sendWebhook(services, recipient, notices, closing);
  } catch (error) {
    if (error instanceof MailError) return { state: 'not_delivered', reason: error.message };
    if (closing?.aborted !== true) services.logger.error({ err: error }, 'a notification could not be sent');
    return { state: 'not_delivered', reason: 'The service could not send it.' };
  }
}

async function sendMail(
  { mail, config }: DeliveryServices,
  { email }: Claimed,
  notices: readonly Notice[],
): Promise<Sent> {
  if (mail === null) return { state: 'skipped', reason: 'This deployment sends no mail.' };
  await mail.send({ to: email, ...mailOf(config.http.url, notices) });
  return delivered;
}

async function sendWebhook(
  services: DeliveryServices,
  recipient: Claimed,
  notices: readonly Notice[],
  closing: AbortSignal | undefined,
): Promise<Sent> {
  const target = await readTarget(services, recipient);
  if (target === null) return { state: 'skipped', reason: 'There is no webhook.' };
  const body = webhookBodyOf(services.config.http.url, notices);
  const lineage = await deepestLineage(services, notices);
  const reason = await withLineage(lineage, () => postTo(services, target, body, closing));
  return reason === null ? delivered : { state: 'not_delivered', reason };
}

/**
 * Returns the lineage of the deepest run that led to the message. If the webhook is one of this service, the runs that
 * it starts are below that run.
 */
async function deepestLineage(
  { pool }: Pick<Services, 'pool'>,
  notices: readonly Notice[],
): Promise<CallerLineage | null> {
  const [first] = notices;
  if (first === undefined) return null;
  const { tenantId } = first;
  const runIds = [...new Set(notices.map(({ runId }) => runId))];
  const lineages = (await findStarts(pool, tenantId, runIds)).map(({ runId, ...started }) => lineageOf(runId, started));
  const deepest = lineages.sort((a, b) => b.depth - a.depth)[0];
  return deepest === undefined ? null : { tenantId, ...deepest };
}

function toNotice(delivery: Claimed): Notice {
  const { kind, tenantId, projectId, workflowId, workflowName, runId, stepId, taskName, createdAt } = delivery;
  const names = { workflowName: workflowName ?? 'a deleted workflow', taskName };
  return { kind, tenantId, projectId, workflowId, ...names, runId, stepId, createdAt: createdAt.getTime() };
}
