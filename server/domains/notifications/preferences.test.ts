import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Scope, scopes } from '../../orchestrator/ports/authority.ts';
import { createCall } from '../../testing/call.ts';
import { createTestServices, testConfig, withScopes } from '../../testing/identity.ts';
import { type NotificationWorld, startNotificationWorld } from '../../testing/notifications.ts';
import { sign } from '../../testing/webhooks.ts';
import { refusal } from '../../testing/workflows.ts';
import { notificationOperations } from './operations.ts';

let world: NotificationWorld;
beforeAll(async () => {
  world = await startNotificationWorld();
});
afterAll(() => world.close());

const get = () => world.call(world.tenant.viewer, 'me_notifications_get');
const change = (input: object) => world.patch(world.tenant.viewer, input);
const refused = async (input: object) => {
  const { status, code } = await refusal(change(input));
  return [status, code];
};

describe('preferences', () => {
  test('send nothing until the person chooses', async () => {
    expect(await get()).toEqual({
      browser: [],
      email: [],
      webhook: [],
      email_address: { address: 'viewer@acme.example.com', confirmed: true },
      webhook_origin: null,
    });
  });

  test('change one by one, and belong to one person', async () => {
    await change({ email: ['run_failed', 'run_failed'] });
    await change({ browser: ['task_waiting'] });
    expect(await get()).toMatchObject({ browser: ['task_waiting'], email: ['run_failed'], webhook: [] });
    expect(await change({})).toMatchObject({ browser: ['task_waiting'], email: ['run_failed'], webhook: [] });
    expect(await world.call(world.tenant.owner, 'me_notifications_get')).toMatchObject({ email: [] });
  });

  test('refuse kinds that could not be delivered', async () => {
    expect(await refused({ webhook: ['run_failed'] })).toEqual([422, 'webhook_missing']);
    expect(await refused({ rotate_webhook_secret: true })).toEqual([422, 'webhook_missing']);
    expect(await refused({ email: ['everything'] })).toEqual([422, 'validation_error']);
    const { userId } = world.tenant.contributor;
    await world.db.pool.query('UPDATE users SET confirmed_at = NULL WHERE id = $1', [userId]);
    const email = world.patch(world.tenant.contributor, { email: ['task_waiting'] });
    expect((await refusal(email)).code).toBe('address_unconfirmed');
    const test = world.call(world.tenant.contributor, 'me_notifications_test', { channel: 'email' });
    expect((await refusal(test)).code).toBe('address_unconfirmed');
  });

  test('need a token with every scope', async () => {
    const all = withScopes(world.tenant.viewer, ...scopes);
    await world.patch(all, {});
    const narrow: Scope[] = ['pat:manage', 'workflow:read'];
    for (const [name, input] of [
      ['me_notifications_patch', {}],
      ['me_notifications_test', { channel: 'webhook' }],
    ] as const) {
      const error = await refusal(world.call(withScopes(world.tenant.viewer, ...narrow), name, input));
      expect([error.status, error.code]).toEqual([403, 'insufficient_scope']);
    }
  });
});

describe('the webhook', () => {
  test.each([
    ['not a url', 'invalid_url'],
    ['ftp://example.com/', 'https_required'],
    ['http://10.0.0.1/', 'egress_refused'],
    ['https://user:password@example.com/', 'egress_refused'],
    ['https://169.254.169.254/latest', 'egress_refused'],
  ])('is not %s', async (webhook_url, code) => {
    expect(await refused({ webhook_url })).toEqual([422, code]);
  });

  test('must be https where no private network is allowed', async () => {
    const services = createTestServices(world.db, { config: testConfig() });
    const call = createCall(services, notificationOperations);
    const input = { webhook_url: 'http://example.com/' };
    const error = await refusal(call(world.tenant.viewer, 'me_notifications_patch', input));
    expect([error.status, error.code]).toEqual([422, 'https_required']);
    await services.egress.close();
  });

  test('shows its secret once, rotates it, and is sealed with its address', async () => {
    const { webhook_secret: first = '', ...set } = await change({ webhook_url: world.url, webhook: ['run_failed'] });
    expect(first).toMatch(/^whsec_[\w-]{43}$/);
    expect(set).toMatchObject({ webhook_origin: new URL(world.url).origin, webhook: ['run_failed'] });
    expect(JSON.stringify(await get())).not.toMatch(/whsec|\/hook/);
    const { webhook_secret: second = '' } = await change({ rotate_webhook_secret: true });
    expect(second).not.toBe(first);
    expect(await change({ webhook: [] })).not.toHaveProperty('webhook_secret');
    expect(await world.call(world.tenant.viewer, 'me_notifications_test', { channel: 'webhook' })).toEqual({
      delivered: true,
      reason: null,
    });
    const request = world.received().at(-1);
    const timestamp = String(request?.headers['x-service-timestamp']);
    expect(request?.headers['x-service-signature']).toBe(sign(second, request?.body ?? '', timestamp));
    const { rows } = await world.db.pool.query('SELECT ciphertext::text FROM secrets');
    expect(JSON.stringify(rows)).not.toContain(Buffer.from(second).toString('hex'));
    world.receiver.status = 418;
    expect(await world.call(world.tenant.viewer, 'me_notifications_test', { channel: 'webhook' })).toEqual({
      delivered: false,
      reason: expect.stringMatching(/ answered 418\.$/),
    });
    expect(await change({ webhook_url: null })).toMatchObject({ webhook_origin: null });
    const missing = world.call(world.tenant.viewer, 'me_notifications_test', { channel: 'webhook' });
    expect((await refusal(missing)).code).toBe('webhook_missing');
  });
});

test('a test of email sends one mail', async () => {
  const sent = await world.call(world.tenant.owner, 'me_notifications_test', { channel: 'email' });
  expect(sent).toEqual({ delivered: true, reason: null });
  expect((await world.mail.next('owner@acme.example.com')).text).toContain(
    'https://baton.example.com/settings/notifications',
  );
});

test('without a mail server there is no channel for email', async () => {
  const services = createTestServices(world.db, { config: testConfig() });
  const call = createCall(services, notificationOperations);
  expect(await call(world.tenant.owner, 'me_notifications_get')).toMatchObject({ email_address: null });
  for (const [name, input] of [
    ['me_notifications_patch', { email: ['run_failed'] }],
    ['me_notifications_test', { channel: 'email' }],
  ] as const) {
    expect((await refusal(call(world.tenant.owner, name, input))).code).toBe('mail_unavailable');
  }
  await services.egress.close();
});
