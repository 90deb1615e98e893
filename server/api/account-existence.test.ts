import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { settleMails } from '../domains/identity/account-mail.ts';
import { issueToken } from '../domains/identity/account-token-store.ts';
import { startTestContainer, type TestContainer } from '../testing/container.ts';
import { createTestTenant, type TestTenant } from '../testing/identity.ts';
import { startTestMailServer, type TestMailServer } from '../testing/mail.ts';
import { operations } from './operations.ts';

/**
 * No public operation reveals whether an address has an account: requests about a known and about an unknown address
 * are answered with the same status, headers and body. Each public operation is in one of the two lists.
 */
/** Returns a password that no account has yet, because a correct password would identify its account. */
const unusedPassword = () => `a password that nobody has ${++made}`;
type Asked = { path: string; body: (email: string) => Promise<object> | object };

let made = 0;
let service: TestContainer;
let mail: TestMailServer;
let acme: TestTenant;
let evil: TestTenant;

beforeAll(async () => {
  mail = await startTestMailServer();
  service = await startTestContainer({
    BATON_SIGN_UP: 'open',
    BATON_SMTP_URL: mail.url,
    BATON_MAIL_FROM: 'baton@example.com',
  });
  const { services } = service.container;
  acme = await createTestTenant(services, { slug: 'acme' });
  evil = await createTestTenant(services, { slug: 'evil' });
});
afterAll(async () => {
  await service.close();
  await mail[Symbol.asyncDispose]();
});

const invitationOf = async (email: string): Promise<string> => {
  const { prisma, clock } = service.container.services;
  const token = await issueToken(prisma, { purpose: 'confirm_address', email, validForMs: 60_000 }, clock.now());
  const issued = await prisma.accountToken.findFirstOrThrow({ where: { email }, orderBy: { createdAt: 'desc' } });
  await prisma.accountToken.deleteMany({ where: { email } });
  const at = new Date(clock.now());
  await prisma.invitation.create({
    data: {
      id: crypto.randomUUID(),
      tenantId: 'evil',
      projectId: evil.projectId,
      email,
      role: 'project_viewer',
      tenantAdmin: false,
      tokenHash: issued.tokenHash,
      createdBy: evil.owner.userId,
      createdAt: at,
      expiresAt: new Date(clock.now() + 60_000),
    },
  });
  return token;
};

/** Operations about an address. */
const about: Record<string, Asked> = {
  invitations_accept: {
    path: '/v1/invitations/accept',
    body: async email => ({ token: await invitationOf(email), name: 'Somebody', password: unusedPassword() }),
  },
  sign_up_create: {
    path: '/v1/sign-up',
    body: email => ({ email, name: 'Somebody', password: unusedPassword(), slug: `w${++made}` }),
  },
  password_resets_request: { path: '/v1/password-resets', body: email => ({ email }) },
};
/** Operations without an address, or with a link that proves the address. */
const unrelated = [
  'addresses_confirm',
  'password_resets_complete',
  'setup_status',
  'setup_create',
  'sign_up_status',
  'billing_provider_webhook',
  'webhooks_ingest',
  'webhooks_ingest_callback',
  'webhooks_challenge',
];

test('every public operation is in one of the lists', () => {
  const open = operations.filter(({ access }) => access === 'public').map(({ name }) => name);
  expect([...Object.keys(about), ...unrelated].sort()).toEqual([...open].sort());
});

/** Replaces the parts that differ in every answer, ids and counts, by one placeholder, but not the time in an id. */
async function sendFor({ path, body }: Asked, email: string) {
  const since = service.container.services.clock.now();
  const response = await fetch(service.url + path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(await body(email)),
  });
  const text = (await response.text())
    .replaceAll(email, '<email>')
    .replace(/"w\d+"/, '"<slug>"')
    .replace(/"request_id":"[^"]+"/, '');
  const ids = /[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/g;
  const isNew = (id: string) => Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16) >= since;
  const headers = [...response.headers].filter(
    ([name]) => !/^(date|x-request-id|ratelimit-|content-length)/.test(name),
  );
  return { status: response.status, headers, body: text.replace(ids, id => (isNew(id) ? '<new id>' : '<old id>')) };
}

describe('an address with an account is answered as one without', () => {
  test.each(Object.entries(about))('%s', async (_, asked) => {
    const unknown = await sendFor(asked, `unknown-${++made}@example.com`);
    expect(unknown.status).toBeLessThan(300);
    expect(await sendFor(asked, acme.owner.email)).toEqual(unknown);
    await settleMails(service.container.services);
    expect(await sendFor(asked, acme.viewer.email)).toEqual(unknown);
  });

  test('also for invalid requests', async () => {
    for (const { path, body } of Object.values(about)) {
      const wrong: Asked = { path, body: async email => ({ ...(await body(email)), nonsense: 1 }) };
      expect(await sendFor(wrong, acme.owner.email)).toEqual(await sendFor(wrong, 'nobody@example.com'));
    }
  });
});
