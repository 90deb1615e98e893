import type { Pool } from 'pg';
import type { Services } from '../../operation/services.ts';
import type { Message } from '../../platform/mail/mailer.ts';

type MailServices = Pick<Services, 'mail' | 'rateLimiter' | 'logger' | 'pool'>;

/** The mails that are being written or sent, for each database; the container waits for them before it closes. */
const underWay = new WeakMap<Pool, Set<Promise<void>>>();

/**
 * Sends the message of `compose` to an address after the response, which takes the same time with and without a mail.
 * If `compose` returns null, nothing is sent. One address gets a few mails an hour from all callers together. A mail
 * that the mail server refuses is logged and not sent again: the person can request another.
 */
export function sendLater(
  services: MailServices,
  to: string,
  compose: () => Promise<Omit<Message, 'to'> | null>,
): void {
  const { mail, rateLimiter, logger, pool } = services;
  if (mail === null) return;
  const pending = underWay.get(pool) ?? new Set();
  underWay.set(pool, pending);
  const work = async () => {
    try {
      const message = await compose();
      if (message === null || !(await rateLimiter.take('mail', `mail:${to}`)).allowed) return;
      await mail.send({ to, ...message });
    } catch (error) {
      logger.error({ err: error }, 'a mail to an account was not sent');
    }
  };
  // Sent in the next turn of the event loop, so that the response is sent first.
  const sent: Promise<void> = new Promise<void>(resolve => setImmediate(resolve))
    .then(work)
    .finally(() => pending.delete(sent));
  pending.add(sent);
}

/** Waits for the mails that are being sent. */
export async function settleMails({ pool }: Pick<Services, 'pool'>): Promise<void> {
  await Promise.all(underWay.get(pool) ?? []);
}
