import { createTransport } from 'nodemailer';
import type { MailSettings } from './settings.ts';

export type Message = { to: string; subject: string; text: string };

/** Sends mail. Rejects with MailError if the server does not accept a message. */
export interface Mailer {
  send(message: Message): Promise<void>;
  close(): void;
}

/** `message` contains neither an address nor the content of the mail. */
export class MailError extends Error {}

/** Long enough for a server that consults others before it answers, and short enough for a shutdown to wait for. */
const TIMEOUT_MS = 10_000;

/**
 * Creates a mailer over SMTP: TLS from the start with smtps://, and with smtp:// if the server offers it
 * (`?requireTLS=true` requires it).
 */
export function createMailer({ smtpUrl, from }: MailSettings): Mailer {
  const transport = createTransport(
    {
      url: smtpUrl,
      connectionTimeout: TIMEOUT_MS,
      greetingTimeout: TIMEOUT_MS,
      socketTimeout: TIMEOUT_MS,
      // Messages consist of text alone: nothing in them may be read from a file or an address.
      disableFileAccess: true,
      disableUrlAccess: true,
    },
    { from },
  );
  return {
    async send({ to, subject, text }) {
      try {
        // An object is used unchanged, while text would be parsed as a list of addresses.
        await transport.sendMail({ to: { name: '', address: to }, subject, text });
      } catch (error) {
        const { code, responseCode } = (error ?? {}) as { code?: unknown; responseCode?: unknown };
        throw new MailError(`The mail server did not take a message (${String(responseCode ?? code ?? 'unknown')}).`);
      }
    },
    close: () => transport.close(),
  };
}
