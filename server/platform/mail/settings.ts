import { z } from 'zod';
import { optional } from '../setting-types.ts';

export type MailSettings = {
  /** smtp:// or smtps://, with user and password. A secret. */
  smtpUrl: string;
  /** The sender, as an address or `Name <address>`. */
  from: string;
};

/** The environment of mail (docs/operations.md, Email). */
export const mailSchema = z.object({
  BATON_SMTP_URL: optional.refine(
    url => url === undefined || (URL.canParse(url) && /^smtps?:\/\/[^/?#]/.test(url)),
    'must be a URL with smtp:// or smtps://, such as smtps://user:password@mail.example.com',
  ),
  BATON_MAIL_FROM: optional.refine(
    from => from === undefined || z.email().safeParse(/<([^<>]+)>$/.exec(from)?.[1] ?? from).success,
    'must be an email address, or Name <address>',
  ),
});

/** Returns the settings; calls `problem` for values that contradict each other. Null if mail is not configured. */
export function mailSettings(
  env: z.output<typeof mailSchema>,
  problem: (message: string) => void,
): MailSettings | null {
  const { BATON_SMTP_URL: smtpUrl, BATON_MAIL_FROM: from } = env;
  if (smtpUrl !== undefined && from !== undefined) return { smtpUrl, from };
  if (smtpUrl !== undefined) problem('BATON_MAIL_FROM: is needed beside BATON_SMTP_URL');
  if (from !== undefined) problem('BATON_SMTP_URL: is needed beside BATON_MAIL_FROM');
  return null;
}
