import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createRequestLimiter } from '../../operation/rate-limits.ts';
import { type AccountWorld, createAccountWorld, OWN_PASSWORD, STOLEN_PASSWORD } from '../../testing/accounts.ts';
import { createCall } from '../../testing/call.ts';
import { createTestPat } from '../../testing/identity.ts';
import { startTestMailServer, type TestMailServer } from '../../testing/mail.ts';
import { settleMails } from './account-mail.ts';
import { identityOperations } from './operations.ts';
import { issueResetLink } from './password-reset.ts';
import { resolvePat, resolveSession } from './principal.ts';

/** Tests an account in a deployment with mail, where an address is only claimed through its mailbox. */
let db: AccountWorld['db'];
let mail: TestMailServer;
let services: AccountWorld['services'];
let clock: AccountWorld['clock'];
let honest: AccountWorld['honest'];
let evil: AccountWorld['evil'];
let call: AccountWorld['call'];
let join: AccountWorld['join'];
let signIn: AccountWorld['signIn'];
let close: AccountWorld['close'];
const NEW = 'a new password, at last';

beforeAll(async () => {
  mail = await startTestMailServer();
  ({ db, services, clock, honest, evil, call, join, signIn, close } = await createAccountWorld({
    BATON_SMTP_URL: mail.url,
    BATON_MAIL_FROM: 'Baton <baton@example.com>',
    BATON_URL: 'https://baton.example.com',
  }));
});
afterAll(async () => {
  await close();
  await mail[Symbol.asyncDispose]();
});

/** Returns the token of the link in the next mail to an address. */
const tokenFor = async (email: string, page: 'confirm-address' | 'reset-password'): Promise<string> => {
  const { text } = await mail.next(email);
  const token = new RegExp(`https://baton\\.example\\.com/${page}#token=([\\w-]{43})`).exec(text)?.[1];
  if (token === undefined) throw new Error(`There is no link in: ${text}`);
  return token;
};
const workspacesOf = async (userId: string) =>
  (await db.prisma.membership.findMany({ where: { userId }, orderBy: { tenantId: 'asc' } })).map(row => row.tenantId);
const gone = { status: 404, message: 'Link not found.' };

describe('confirming an address', () => {
  it('takes the mailed link and the password of the account; nobody else’s account of the address stays', async () => {
    const email = 'victim@example.com';
    const wrong = await join(evil, email, STOLEN_PASSWORD);
    const stolenLink = await tokenFor(email, 'confirm-address');
    const right = await join(honest, email, OWN_PASSWORD);
    const token = await tokenFor(email, 'confirm-address');
    // The person opens the mail that the other account caused: their password does not confirm it.
    await expect(call(null, 'addresses_confirm', { token: stolenLink, password: OWN_PASSWORD })).rejects.toMatchObject({
      status: 403,
      code: 'wrong_password',
    });
    expect(await call(null, 'addresses_confirm', { token, password: OWN_PASSWORD })).toEqual({ email });
    expect(await workspacesOf(right.user_id)).toEqual(['evil', 'honest']);
    expect(await workspacesOf(wrong.user_id)).toEqual([]);
    expect(await signIn(email, STOLEN_PASSWORD)).toBeNull();
    expect((await signIn(email, OWN_PASSWORD))?.id).toBe(right.user_id);
    for (const used of [token, stolenLink])
      await expect(call(null, 'addresses_confirm', { token: used, password: OWN_PASSWORD })).rejects.toMatchObject(
        gone,
      );
  });

  it('does not change a confirmed account when others accept invitations in its name', async () => {
    const email = honest.contributor.email;
    const shadow = await join(evil, email, STOLEN_PASSWORD);
    const token = await tokenFor(email, 'confirm-address');
    expect((await db.prisma.user.findUniqueOrThrow({ where: { id: shadow.user_id } })).confirmedAt).toBeNull();
    // Even a person with both the mailbox and that password only adds a membership to the confirmed account.
    await call(null, 'addresses_confirm', { token, password: STOLEN_PASSWORD });
    expect(await workspacesOf(honest.contributor.userId)).toEqual(['evil', 'honest']);
    expect(await signIn(email, STOLEN_PASSWORD)).toBeNull();
  });

  it('can be requested again until it is done; a link is valid for three days', async () => {
    const email = 'again@example.com';
    const { user_id: userId } = await join(honest, email, OWN_PASSWORD);
    const first = await tokenFor(email, 'confirm-address');
    const person = { ...honest.viewer, userId, email };
    await call(person, 'me_request_confirmation');
    const second = await tokenFor(email, 'confirm-address');
    clock.advance(3 * 24 * 60 * 60 * 1000 - 1);
    await call(null, 'addresses_confirm', { token: second, password: OWN_PASSWORD });
    await expect(call(person, 'me_request_confirmation')).rejects.toMatchObject({ status: 409 });
    clock.advance(1);
    await expect(call(null, 'addresses_confirm', { token: first, password: OWN_PASSWORD })).rejects.toMatchObject(gone);
    expect(await call(person, 'me_get')).toMatchObject({ user: { confirmed: true } });
  });
});

describe('resetting a password', () => {
  it('is for whoever has the mailbox: the account becomes theirs, and what others held of it dies', async () => {
    const email = 'forgetful@example.com';
    const wrong = await join(evil, email, STOLEN_PASSWORD);
    const thief = { ...evil.viewer, userId: wrong.user_id, email };
    const { token: pat } = await createTestPat(services, thief, ['workflow:read']);
    await tokenFor(email, 'confirm-address');
    await call(null, 'password_resets_request', { email });
    const token = await tokenFor(email, 'reset-password');
    expect(await call(null, 'password_resets_complete', { token, password: NEW })).toEqual({ email });
    expect(await signIn(email, STOLEN_PASSWORD)).toBeNull();
    const signedIn = await signIn(email, NEW);
    expect(await workspacesOf(signedIn?.id ?? '')).toEqual(['evil']);
    expect(await resolvePat(services, pat)).toBeNull();
    expect(await resolveSession(services, { userId: wrong.user_id, sessionEpoch: 0 })).toBeNull();
    await expect(call(null, 'password_resets_complete', { token, password: NEW })).rejects.toMatchObject(gone);
  });

  it('keeps the tokens of a confirmed account; a link is valid once, for an hour', async () => {
    const { email, userId } = honest.owner;
    const { token: pat } = await createTestPat(services, honest.owner, ['workflow:read']);
    for (const _ of [1, 2]) await call(null, 'password_resets_request', { email });
    const [first, second] = [await tokenFor(email, 'reset-password'), await tokenFor(email, 'reset-password')];
    clock.advance(60 * 60 * 1000 - 1);
    await call(null, 'password_resets_complete', { token: second, password: NEW });
    expect((await signIn(email, NEW))?.id).toBe(userId);
    expect(await resolvePat(services, pat)).toMatchObject({ userId });
    await expect(call(null, 'password_resets_complete', { token: first, password: NEW })).rejects.toMatchObject(gone);
    await call(null, 'password_resets_request', { email });
    const late = await tokenFor(email, 'reset-password');
    clock.advance(60 * 60 * 1000);
    await expect(call(null, 'password_resets_complete', { token: late, password: NEW })).rejects.toMatchObject(gone);
  });

  it('works by an operator’s link as well, and by no token that is in the database', async () => {
    const email = 'handed@example.com';
    const { user_id: userId } = await join(honest, email, OWN_PASSWORD);
    const link = await issueResetLink(services, { email, baseUrl: 'https://baton.example.com' });
    const token = link?.url.split('#token=')[1] ?? '';
    const { rows } = await db.pool.query('SELECT to_jsonb(t) AS row FROM account_tokens t');
    // PostgreSQL writes bytea in hex.
    const asBytes = (['utf8', 'base64url'] as const).map(encoding => Buffer.from(token, encoding).toString('hex'));
    for (const form of [token, ...asBytes]) expect(JSON.stringify(rows)).not.toContain(form);
    await call(null, 'password_resets_complete', { token, password: NEW });
    expect((await signIn(email, NEW))?.id).toBe(userId);
    expect(await issueResetLink(services, { email: 'nobody@example.com', baseUrl: 'x' })).toBeNull();
  });

  it('happens once, however many try at the same time', async () => {
    const email = 'raced@example.com';
    await join(honest, email, OWN_PASSWORD);
    const link = await issueResetLink(services, { email, baseUrl: '' });
    const token = link?.url.split('#token=')[1] ?? '';
    const tries = [1, 2, 3].map(n => call(null, 'password_resets_complete', { token, password: `${NEW} ${n}` }));
    const done = await Promise.allSettled(tries);
    expect(done.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });
});

describe('mail', () => {
  it('is sent only to an address that has an account, at most five times an hour', async () => {
    const limits = { principal: 0, address: 0, signIn: 0, wrongCodes: 0 };
    const limited = { ...services, rateLimiter: createRequestLimiter(limits, clock) };
    const ask = createCall(limited, identityOperations);
    const email = honest.viewer.email;
    for (let n = 0; n < 7; n++) await ask(null, 'password_resets_request', { email });
    await ask(null, 'password_resets_request', { email: 'unknown@example.com' });
    await settleMails(services);
    expect(mail.received.filter(({ to }) => to === email)).toHaveLength(5);
    expect(mail.received.filter(({ to }) => to === 'unknown@example.com')).toEqual([]);
    expect(mail.received.every(({ from }) => from === 'baton@example.com')).toBe(true);
  });

  it('that the server refuses is lost without other effects, and the log names no address', async () => {
    const lines: unknown[] = [];
    const logger = Object.assign(Object.create(services.logger), { error: (line: unknown) => lines.push(line) });
    mail.refuse();
    const refused = createCall({ ...services, logger }, identityOperations);
    expect(await refused(null, 'password_resets_request', { email: evil.viewer.email })).toBeUndefined();
    await settleMails(services);
    expect(lines).toEqual([{ err: expect.objectContaining({ message: expect.stringContaining('(554)') }) }]);
    expect(String(lines.map(line => JSON.stringify(line)))).not.toContain(evil.viewer.email);
  });
});
