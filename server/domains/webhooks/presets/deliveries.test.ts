import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type Answer,
  createTestWebhook,
  startWebhookService,
  type TestWebhook,
  tokenOf,
  type WebhookService,
} from '../../../testing/webhooks.ts';
import { settleDeliveries } from '../delivery-log.ts';
import type { PresetName } from './catalog.ts';

let service: WebhookService;

beforeAll(async () => {
  service = await startWebhookService();
});
afterAll(() => service.close());

const seconds = () => Math.floor(service.clock.now() / 1000);
const hexOf = (key: string, message: string) => createHmac('sha256', key).update(message).digest('hex');
const create = (preset: PresetName, more: Record<string, unknown> = {}) =>
  createTestWebhook(service, { preset, automation_bearer: service.token, ...more });
const refuseCreation = (more: Record<string, unknown>) =>
  service.call(service.manager, 'POST', '/v1/inbound-webhooks', {
    workflow_id: service.workflow,
    name: 'Refused',
    automation_bearer: service.token,
    ...more,
  });
const patch = (webhook: TestWebhook, body: Record<string, unknown>) =>
  service.call(service.manager, 'PATCH', `/v1/inbound-webhooks/${webhook.id}`, body);

/** The request that the sender of a preset makes, without a token of Baton. */
type Sent = { headers: Record<string, string>; body: string };
const senders = {
  github: ({ secret }, body = '{"n":1}', id = '72d3162e-cc78-11e3-81ab-4c9367dc0958', event = 'issues') => ({
    body,
    headers: {
      'X-GitHub-Event': event,
      'X-GitHub-Delivery': id,
      'X-Hub-Signature-256': `sha256=${hexOf(secret, body)}`,
    },
  }),
  stripe: ({ secret }, body = '{"id":"evt_1","n":1}') => ({
    body,
    headers: { 'Stripe-Signature': `t=${seconds()},v1=${hexOf(secret, `${seconds()}.${body}`)}` },
  }),
  slack: ({ secret }, body = '{"type":"event_callback","event_id":"Ev1"}') => ({
    body,
    headers: {
      'X-Slack-Request-Timestamp': String(seconds()),
      'X-Slack-Signature': `v0=${hexOf(secret, `v0:${seconds()}:${body}`)}`,
    },
  }),
  'standard-webhooks': ({ secret }, body = '{"n":1}', id = 'msg_1') => {
    const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
    const signature = createHmac('sha256', key).update(`${id}.${seconds()}.${body}`).digest('base64');
    const headers = {
      'Webhook-Id': id,
      'Webhook-Timestamp': String(seconds()),
      'Webhook-Signature': `v1,${signature}`,
    };
    return { body, headers };
  },
  basic: ({ secret }, body = '{"n":1}') => ({
    body,
    headers: { Authorization: `Basic ${Buffer.from(`shop:${secret}`).toString('base64')}` },
  }),
  'secret-url': (_, body = '{"n":1}') => ({ body, headers: {} }),
} satisfies Partial<Record<PresetName, (webhook: TestWebhook, ...rest: string[]) => Sent>>;

/** Sends exactly these headers. */
const send = (webhook: TestWebhook, { headers, body }: Sent): Promise<Answer> =>
  service.deliver(webhook, { token: null, signature: null, headers, body });

async function latestDelivery(webhook: TestWebhook): Promise<Record<string, unknown> | undefined> {
  await settleDeliveries(service.services);
  const { body } = await service.call(service.manager, 'GET', `/v1/inbound-webhooks/${webhook.id}/deliveries`);
  return (body as unknown as { deliveries: Record<string, unknown>[] }).deliveries[0];
}

describe('a delivery without a token of its own', () => {
  const given = { stripe: 'whsec_4242424242424242', slack: '8f742231b10e8888abcd99yyyzzz85a5' } as const;

  test.each(Object.keys(senders) as (keyof typeof senders)[])(
    '%s starts a run of the stored token’s user',
    async preset => {
      const signing_secret = preset === 'stripe' || preset === 'slack' ? given[preset] : undefined;
      const made = await create(preset, {
        ...(signing_secret ? { signing_secret } : {}),
        ...(preset === 'basic' ? { username: 'shop' } : {}),
      });
      const webhook = { ...made, secret: signing_secret ?? made.secret };
      const answer = await send(webhook, senders[preset](webhook));
      expect([answer.status, answer.body.code]).toEqual([202, undefined]);
      const { rows } = await service.db.pool.query('SELECT started_by, trigger_type FROM runs WHERE id = $1', [
        answer.body.run_id,
      ]);
      expect(rows).toEqual([{ started_by: service.tenant.contributor.email, trigger_type: 'webhook' }]);

      const stranger = {
        ...webhook,
        secret: `whsec_${'A'.repeat(40)}`,
        path: `/v1/inbound-webhooks/${webhook.id}.wrong`,
      };
      const refused = await send(preset === 'secret-url' ? stranger : webhook, senders[preset](stranger));
      const code = preset === 'secret-url' ? 'unauthenticated' : 'bad_signature';
      expect([refused.status, refused.body.code]).toEqual([401, code]);
      expect(JSON.stringify(refused.body)).not.toContain(webhook.secret);
      expect(await latestDelivery(webhook)).toMatchObject({
        outcome: 'unauthorized',
        code: 'bad_signature',
        run_id: null,
      });
    },
  );

  test('needs the stored token to be live, and says no more to the sender', async () => {
    const automation_bearer = await tokenOf(service.services, service.tenant, ['workflow:run']);
    const webhook = await create('github', { automation_bearer });
    expect((await send(webhook, senders.github(webhook))).status).toBe(202);
    await service.db.pool.query(
      'UPDATE pats SET revoked_at = $2 WHERE id = (SELECT automation_pat_id FROM webhook_subscriptions WHERE id = $1)',
      [webhook.id, new Date(service.clock.now())],
    );
    const refused = await send(webhook, senders.github(webhook));
    expect([refused.status, refused.body.code]).toEqual([401, 'unauthenticated']);
    expect(await latestDelivery(webhook)).toMatchObject({ code: 'bad_automation_token' });
  });

  test('is refused while the webhook is switched off, without a hint', async () => {
    const webhook = await create('github');
    await patch(webhook, { enabled: false });
    const refused = await send(webhook, senders.github(webhook));
    expect([refused.status, refused.body.code]).toEqual([401, 'unauthenticated']);
  });

  test('never reaches a webhook of the default preset', async () => {
    const webhook = await createTestWebhook(service);
    for (const sender of [senders.github, senders['secret-url'], senders.stripe]) {
      const refused = await send(webhook, sender(webhook));
      expect([refused.status, refused.body.code]).toEqual([401, 'unauthenticated']);
    }
    const path = `${webhook.path}.${webhook.secret}`;
    expect((await service.deliver({ ...webhook, path })).status).toBe(401);
  });
});

describe('github', () => {
  test('tells the workflow the event, and recognizes a redelivery', async () => {
    const webhook = await create('github');
    const sent = senders.github(webhook, '{"action":"opened"}', 'a-1', 'pull_request');
    const first = await send(webhook, sent);
    expect(await service.inputOf(first.body.run_id)).toEqual({
      action: 'opened',
      webhook: { event: 'pull_request', delivery_id: 'a-1' },
    });
    service.clock.advance(3_600_000);
    expect((await send(webhook, sent)).body.run_id).toBe(first.body.run_id);
    expect(await latestDelivery(webhook)).toMatchObject({ outcome: 'duplicate' });
    const other = await send(webhook, senders.github(webhook, '{"action":"opened"}', 'a-2'));
    expect(other.body.run_id).not.toBe(first.body.run_id);
  });

  test('answers a ping without a run, once it is authentic', async () => {
    const webhook = await create('github');
    const ping = senders.github(webhook, '{"zen":"Keep it simple."}', 'p', 'ping');
    const answer = await send(webhook, ping);
    expect([answer.status, answer.body]).toEqual([200, { acknowledged: 'ping' }]);
    expect(await latestDelivery(webhook)).toMatchObject({ http_status: 200, run_id: null, code: 'ping' });
    expect((await send(webhook, { ...ping, body: '{}' })).status).toBe(401);
  });

  test('may send JSON in a form, which is its default, also for a ping', async () => {
    const webhook = await create('github');
    const body = `payload=${encodeURIComponent('{"action":"opened","title":"1 + 1 = 2 & é"}')}`;
    const type = 'application/x-www-form-urlencoded';
    const post = (event: string) =>
      service.deliver(webhook, { ...senders.github(webhook, body, event, event), token: null, signature: null, type });
    expect(await service.inputOf((await post('issues')).body.run_id)).toEqual({
      action: 'opened',
      title: '1 + 1 = 2 & é',
      webhook: { event: 'issues', delivery_id: 'issues' },
    });
    expect(await post('ping')).toMatchObject({ status: 200, body: { acknowledged: 'ping' } });
  });
});

describe('secrets from stripe and slack', () => {
  test('can be stored later, and deliveries are refused until then', async () => {
    const made = await create('stripe');
    expect(made.secret).toBeNull();
    const webhook = { ...made, secret: 'whsec_1234567890abcdef' };
    const refused = await send(webhook, senders.stripe(webhook));
    expect([refused.status, refused.body.code]).toEqual([401, 'unauthenticated']);
    expect(await latestDelivery(webhook)).toMatchObject({ code: 'no_secret' });

    expect((await patch(webhook, { rotate_secret: true })).body.code).toBe('invalid_secret');
    expect((await patch(webhook, { signing_secret: 'sk_live_1234567890abcdef' })).body.code).toBe('invalid_secret');
    const stored = await patch(webhook, { signing_secret: webhook.secret });
    expect(stored).toMatchObject({ status: 200, body: { has_secret: true, previous_secret_expires_at: null } });
    expect(JSON.stringify(stored.body)).not.toContain(webhook.secret);
    expect((await send(webhook, senders.stripe(webhook))).status).toBe(202);

    const next = { ...webhook, secret: 'whsec_fedcba0987654321' };
    await patch(webhook, { signing_secret: next.secret, rotation_overlap_s: 60 });
    const both = [webhook, next].map(async each => (await send(each, senders.stripe(each, '{"id":"evt_2"}'))).status);
    expect(await Promise.all(both)).toEqual([202, 202]);
    service.clock.advance(60_000);
    expect((await send(webhook, senders.stripe(webhook))).body.code).toBe('bad_signature');
  });

  test('one event starts one run, whatever time it is signed with', async () => {
    const secret = 'whsec_1234567890abcdef';
    const webhook = { ...(await create('stripe', { signing_secret: secret })), secret };
    const first = await send(webhook, senders.stripe(webhook));
    service.clock.advance(3_600_000);
    expect((await send(webhook, senders.stripe(webhook))).body.run_id).toBe(first.body.run_id);
    const other = await send(webhook, senders.stripe(webhook, '{"id":"evt_other"}'));
    expect(other.body.run_id).not.toBe(first.body.run_id);
  });

  test('a recorded delivery is refused after five minutes with its own code', async () => {
    const secret = 'whsec_1234567890abcdef';
    const webhook = { ...(await create('stripe', { signing_secret: secret })), secret };
    const recorded = senders.stripe(webhook);
    service.clock.advance(302_000);
    expect((await send(webhook, recorded)).body.code).toBe('bad_timestamp');
    expect((await send(webhook, { ...recorded, headers: {} })).body.code).toBe('missing_signature');
  });

  test('Slack’s challenge is answered, if it is authentic', async () => {
    const secret = '8f742231b10e8888abcd99yyyzzz85a5';
    const webhook = { ...(await create('slack', { signing_secret: secret })), secret };
    const challenge = senders.slack(webhook, '{"type":"url_verification","challenge":"3eZbrw1aBm2rZgRNFdxV2595E9CY"}');
    const answer = await send(webhook, challenge);
    expect([answer.status, answer.body]).toEqual([200, { challenge: '3eZbrw1aBm2rZgRNFdxV2595E9CY' }]);
    expect(await latestDelivery(webhook)).toMatchObject({ http_status: 200, run_id: null, code: 'challenge' });
    const forged = senders.slack({ ...webhook, secret: 'x'.repeat(32) }, challenge.body);
    expect((await send(webhook, forged)).body).not.toHaveProperty('challenge');
  });
});

describe('generated secrets', () => {
  test('of standard-webhooks are whsec_ and Base64; one id starts one run', async () => {
    const webhook = await create('standard-webhooks');
    expect(webhook.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    const [first, again, other] = [
      await send(webhook, senders['standard-webhooks'](webhook)),
      await send(webhook, senders['standard-webhooks'](webhook)),
      await send(webhook, senders['standard-webhooks'](webhook, '{"n":1}', 'msg_2')),
    ].map(({ body }) => body.run_id);
    expect([again === first, other === first]).toEqual([true, false]);
    const rotated = await patch(webhook, { rotate_secret: true });
    const renewed = { ...webhook, secret: rotated.body.signing_secret ?? '' };
    for (const each of [webhook, renewed]) {
      expect((await send(each, senders['standard-webhooks'](each, '{"n":2}', `msg_${each.secret}`))).status).toBe(202);
    }
  });

  test('of secret-url are in the address, which is shown once', async () => {
    const webhook = await create('secret-url');
    expect(webhook.path).toBe(`/v1/inbound-webhooks/${webhook.id}.${webhook.secret}`);
    expect(webhook.secret).toMatch(/^[A-Za-z0-9_-]{43}$/);
    const read = await service.call(service.manager, 'GET', `/v1/inbound-webhooks/${webhook.id}`);
    expect(read.body).toMatchObject({ preset: 'secret-url', ingress_path: `/v1/inbound-webhooks/${webhook.id}` });
    expect(JSON.stringify(read.body)).not.toContain(webhook.secret);
    const bare = { ...webhook, path: `/v1/inbound-webhooks/${webhook.id}` };
    expect((await send(bare, senders['secret-url'](bare))).status).toBe(401);

    const rotated = await patch(webhook, { rotate_secret: true, rotation_overlap_s: 0 });
    const renewed = { ...webhook, path: rotated.body.ingress_path ?? '' };
    expect(renewed.path).not.toBe(webhook.path);
    const statuses = [webhook, renewed].map(async each => (await send(each, senders['secret-url'](each))).status);
    expect(await Promise.all(statuses)).toEqual([401, 202]);
  });

  test('of basic: every delivery starts its own run, unless it has a key', async () => {
    const webhook = await create('basic', { username: 'shop', signing_secret: 'a password of the shop' });
    expect(webhook.secret).toBeNull();
    const sent = senders.basic({ ...webhook, secret: 'a password of the shop' });
    const keyed = { ...sent, headers: { ...sent.headers, 'Idempotency-Key': 'order-1' } };
    const ids = [];
    for (const each of [sent, sent, keyed, keyed]) ids.push((await send(webhook, each)).body.run_id);
    expect(new Set(ids).size).toBe(3);
    expect(ids[2]).toBe(ids[3]);
    const refused = await send(webhook, { ...sent, headers: {} });
    expect([refused.body.code, refused.headers.get('www-authenticate')]).toEqual([
      'missing_signature',
      'Basic realm="webhook", charset="UTF-8"',
    ]);
  });
});

describe('fields that do not fit the preset are 422', () => {
  test.each([
    ['automation_required', { preset: 'github', automation_bearer: undefined }],
    ['invalid', { preset: 'basic' }],
    ['invalid', { preset: 'github', username: 'shop' }],
    ['invalid', { username: 'shop' }],
    ['validation_error', { preset: 'basic', username: 'a:b' }],
    ['invalid', { preset: 'slack', require_timestamp: true }],
    ['invalid_secret', { preset: 'baton', signing_secret: 'a secret of one’s own' }],
    ['invalid_secret', { preset: 'secret-url', signing_secret: 'aaaaaaaaaaaaaaaaaaaaaaaa' }],
    ['invalid_secret', { preset: 'github', signing_secret: 'too short' }],
    ['invalid_secret', { preset: 'github', signing_secret: 'ends with a space ' }],
    ['invalid_secret', { preset: 'standard-webhooks', signing_secret: 'whsec_short' }],
    ['validation_error', { preset: 'gitlab' }],
  ])('%s for %j', async (code, more) => {
    const { status, body } = await refuseCreation(more);
    expect([status, body.code]).toEqual([422, code]);
  });

  test('and the automation token cannot be taken away', async () => {
    const webhook = await create('github');
    expect((await patch(webhook, { automation_pat_id: null })).body.code).toBe('automation_required');
    expect((await patch(webhook, { require_timestamp: true })).status).toBe(422);
    expect((await patch(webhook, { name: 'Renamed' })).status).toBe(200);
  });
});
