import { createTransport } from 'nodemailer';
import type { MailSettings } from './settings.ts';

export type Message = { to: string; subject: string; text: string };

/** Sends mail. Rejects with MailError where the server does not take a message. */
export interface Mailer {
  send(message: Message): Promise<void>;
  close(): void;
}

/** `message` holds neither an address nor what was sent. */
export class MailError extends Error {}

/** Long enough for a server that asks others before it answers, and short enough that a stop does not hang on one. */
const TIMEOUT_MS = 10_000;

/** A mailer over SMTP: TLS from the start with smtps://, and with smtp:// where the server offers it (`?requireTLS=true` insists). */
export function createMailer({ smtpUrl, from }: MailSettings): Mailer {
  const transport = createTransport(
    {
      url: smtpUrl,
      connectionTimeout: TIMEOUT_MS,
      greetingTimeout: TIMEOUT_MS,
      socketTimeout: TIMEOUT_MS,
      // Messages are text alone: nothing in them is to be read from a file or an address.
      disableFileAccess: true,
      disableUrlAccess: true,
    },
    { from },
  );
  return {
    async send({ to, subject, text }) {
      try {
        // An object is taken as it is, while text would be parsed as a list of addresses.
        await transport.sendMail({ to: { name: '', address: to }, subject, text });
      } catch (error) {
        const { code, responseCode } = (error ?? {}) as { code?: unknown; responseCode?: unknown };
        throw new MailError(`The mail server did not take a message (${String(responseCode ?? code ?? 'unknown')}).`);
      }
    },
    close: () => transport.close(),
  };
}
