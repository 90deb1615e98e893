import type { MailSettings } from './settings.ts';

export type Message = { to: string; subject: string; text: string };

/** Sends mail. Rejects with MailError if the server does not accept a message. */
export interface Mailer {
  send(message: Message): Promise<void>;
  close(): void;
}

/** `message` contains neither an address nor the content of the mail. */
export class MailError extends Error {}

/** Long enough for a mail server that queries others before it answers, and short enough for a shutdown to wait. */
const TIMEOUT_MS = 10_000;

/**
 * Creates a mailer over SMTP: TLS from the start with smtps://, and with smtp:// if the server offers it
 * (`?requireTLS=true` requires it).
 */
export function createMailer(settings: MailSettings): Mailer {
  let opened: ReturnType<typeof openTransport> | undefined;
  return {
    async send({ to, subject, text }) {
      opened ??= openTransport(settings);
      const transport = await opened;
      try {
        // An object is used unchanged, while text would be parsed as a list of addresses.
        await transport.sendMail({ to: { name: '', address: to }, subject, text });
      } catch (error) {
        const { code, responseCode } = (error ?? {}) as { code?: unknown; responseCode?: unknown };
        throw new MailError(`The mail server did not take a message (${String(responseCode ?? code ?? 'unknown')}).`);
      }
    },
    close: () => void opened?.then(transport => transport.close()),
  };
}

/** Loads the client with the first message: 36 modules, 20 ms of every start. */
async function openTransport({ smtpUrl, from }: MailSettings) {
  const { createTransport } = await import('nodemailer');
  return createTransport(
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
}
