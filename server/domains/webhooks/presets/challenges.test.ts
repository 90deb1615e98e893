import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  createTestWebhook,
  startWebhookService,
  type TestWebhook,
  type WebhookService,
} from '../../../testing/webhooks.ts';
import { settleDeliveries } from '../delivery-log.ts';
import type { PresetName } from './catalog.ts';

let service: WebhookService;

beforeAll(async () => {
  service = await startWebhookService();
});
afterAll(() => service.close());

const SECRET = '8f742231b10e8888abcd99yyyzzz85a5';
const FORM = 'application/x-www-form-urlencoded';
const hexOf = (key: string, message: string) => createHmac('sha256', key).update(message).digest('hex');
const seconds = () => Math.floor(service.clock.now() / 1000);
const create = (preset: PresetName, more: Record<string, unknown> = {}) =>
  createTestWebhook(service, { preset, automation_bearer: service.token, ...more });
const patch = (id: string, body: Record<string, unknown>) =>
  service.call(service.manager, 'PATCH', `/v1/inbound-webhooks/${id}`, body);

async function createMeta(more: Record<string, unknown> = {}) {
  const answer = await service.call(service.manager, 'POST', '/v1/inbound-webhooks', {
    workflow_id: service.workflow,
    name: 'WhatsApp',
    preset: 'meta',
    automation_bearer: service.token,
    ...more,
  });
  const { subscription, ...body } = answer.body as unknown as Record<string, string> & { subscription: { id: string } };
  return { ...body, id: subscription.id, path: String(body.ingress_path), token: String(body.verify_token) };
}

async function latestDelivery(id: string): Promise<Record<string, unknown> | undefined> {
  await settleDeliveries(service.services);
  const { body } = await service.call(service.manager, 'GET', `/v1/inbound-webhooks/${id}/deliveries`);
  return (body as unknown as { deliveries: Record<string, unknown>[] }).deliveries[0];
}

/** Returns the parts of an answer that a sender reads, unchanged. */
async function textOf(response: Response) {
  const { headers, status } = response;
  const type = headers.get('content-type');
  return { status, type, sniff: headers.get('x-content-type-options'), text: await response.text() };
}

describe('Slack', () => {
  const post = (webhook: TestWebhook, body: string, headers: Record<string, string> = {}) =>
    fetch(service.url + webhook.path, {
      method: 'POST',
      body,
      headers: {
        'Content-Type': FORM,
        'X-Slack-Request-Timestamp': String(seconds()),
        'X-Slack-Signature': `v0=${hexOf(SECRET, `v0:${seconds()}:${body}`)}`,
        ...headers,
      },
    });
  const inputOfLatest = async (id: string) => service.inputOf(String((await latestDelivery(id))?.run_id));

  test('gets an empty 200 for a slash command, whose fields are the input', async () => {
    const webhook = await create('slack', { signing_secret: SECRET });
    const answer = await textOf(await post(webhook, 'command=%2Fdeploy&text=web+now&user_id=U1&ssl_check='));
    expect(answer).toMatchObject({ status: 200, text: '', type: 'text/plain; charset=utf-8' });
    expect(await latestDelivery(webhook.id)).toMatchObject({ outcome: 'accepted', http_status: 200 });
    expect(await inputOfLatest(webhook.id)).toEqual({
      command: '/deploy',
      text: 'web now',
      user_id: 'U1',
      ssl_check: '',
    });
  });

  test('sends an interaction as JSON in a form', async () => {
    const webhook = await create('slack', { signing_secret: SECRET });
    const json = '{"type":"block_actions","actions":[{"value":"1+1 é"}]}';
    const answer = await post(webhook, `payload=${encodeURIComponent(json)}`);
    expect(await textOf(answer)).toMatchObject({ status: 200, text: '' });
    expect(await inputOfLatest(webhook.id)).toEqual(JSON.parse(json));
  });

  test('starts one run with an event, whatever headers that it does not sign are changed', async () => {
    const webhook = await create('slack', { signing_secret: SECRET });
    const body = '{"type":"event_callback","event_id":"Ev7","challenge":"x"}';
    const first = (await (await post(webhook, body, { 'Content-Type': 'application/json' })).json()) as {
      run_id: string;
    };
    const cloudEvent = { 'ce-specversion': '1.0', 'ce-id': 'other', 'ce-source': '/', 'ce-type': 'x' };
    for (const headers of [
      { 'Content-Type': FORM },
      { 'Content-Type': 'text/plain' },
      { 'Content-Type': 'application/json; charset=utf-16' },
      cloudEvent,
      { 'Content-Encoding': 'deflate' },
      { 'Content-Encoding': 'br' },
    ] as Record<string, string>[]) {
      const answer = (await (await post(webhook, body, headers)).json()) as { run_id?: string; code?: string };
      expect([headers, answer.run_id ?? answer.code]).toEqual([
        headers,
        'Content-Encoding' in headers ? 'malformed_body' : first.run_id,
      ]);
    }
  });
});

describe('Stripe', () => {
  test('starts one run with an event, whatever headers that it does not sign are changed', async () => {
    const secret = 'whsec_4242424242424242';
    const webhook = await create('stripe', { signing_secret: secret });
    const body = '{"id":"evt_9"}';
    const signature = `t=${seconds()},v1=${hexOf(secret, `${seconds()}.${body}`)}`;
    const send = (headers: Record<string, string>, type: string) =>
      service.deliver(webhook, {
        body,
        type,
        token: null,
        signature: null,
        headers: { 'Stripe-Signature': signature, ...headers },
      });
    const first = await send({}, 'application/json; charset=utf-8');
    for (const type of ['text/plain', FORM, 'application/json; charset=utf-16']) {
      expect(
        (await send({ 'ce-specversion': '1', 'ce-id': 'x', 'ce-source': 'x', 'ce-type': 'x' }, type)).body.run_id,
      ).toBe(first.body.run_id);
    }
    expect((await send({ 'Content-Encoding': 'deflate' }, 'application/json')).body.code).toBe('malformed_body');
  });
});

describe('Meta', () => {
  const sendChallenge = (path: string, query: Record<string, string>) =>
    fetch(`${service.url}${path}?${new URLSearchParams(query)}`);
  const queryOf = (token: string, challenge = '1158201444') => ({
    'hub.mode': 'subscribe',
    'hub.challenge': challenge,
    'hub.verify_token': token,
  });

  test('gets its challenge back as plain text if it has the verify token, which is shown once', async () => {
    const made = await createMeta();
    expect(made).toMatchObject({ signing_secret: null, path: `/v1/inbound-webhooks/${made.id}/callback` });
    expect(made.token).toMatch(/^[\w-]{32}$/);
    expect(await textOf(await sendChallenge(made.path, queryOf(made.token)))).toEqual({
      status: 200,
      type: 'text/plain; charset=utf-8',
      sniff: 'nosniff',
      text: '1158201444',
    });
    expect(await latestDelivery(made.id)).toMatchObject({ outcome: 'accepted', code: 'challenge', run_id: null });
    const read = await service.call(service.manager, 'GET', `/v1/inbound-webhooks/${made.id}`);
    expect(JSON.stringify(read.body)).not.toContain(made.token);

    const renewed = await patch(made.id, { rotate_verify_token: true });
    const token = String(renewed.body.verify_token);
    expect((await sendChallenge(made.path, queryOf(made.token))).status).toBe(401);
    expect(await latestDelivery(made.id)).toMatchObject({ outcome: 'unauthorized', code: 'bad_verify_token' });
    expect((await sendChallenge(made.path, queryOf(token))).status).toBe(200);
    const github = await create('github');
    expect((await patch(github.id, { rotate_verify_token: true })).status).toBe(422);
  });

  test('learns nothing without it: all refusals are equal', async () => {
    const [made, off] = [await createMeta(), await createMeta()];
    await patch(off.id, { enabled: false });
    const github = await create('github');
    const callbackPath = (id: string) => `/v1/inbound-webhooks/${id}/callback`;
    const refused = [
      await sendChallenge(made.path, queryOf('wrong')),
      await sendChallenge(made.path, queryOf('')),
      await sendChallenge(callbackPath(`${made.id}.${made.token}`), queryOf(made.token)),
      await sendChallenge(off.path, queryOf(off.token)),
      await sendChallenge(off.path, queryOf('wrong')),
      await sendChallenge(callbackPath(github.id), queryOf(made.token)),
      await sendChallenge(callbackPath(github.id), queryOf(github.secret)),
      await sendChallenge(callbackPath('00000000-0000-0000-0000-000000000000'), queryOf(made.token)),
      await sendChallenge(callbackPath('none'), queryOf(made.token)),
      await sendChallenge(made.path, {}),
      await sendChallenge(made.path, { ...queryOf(made.token), 'hub.mode': 'unsubscribe' }),
    ];
    for (const response of refused) {
      expect(response.status).toBe(401);
      expect({ ...((await response.json()) as object), request_id: '' }).toEqual({
        code: 'unauthenticated',
        error: 'Authentication is missing or invalid.',
        request_id: '',
      });
    }
  });

  test.each(['<script>alert(1)</script>', '1%0d%0aSet-Cookie: a=b', 'a b', '', 'x'.repeat(201), '1\r\nX: y'])(
    'gets no challenge back that could be markup or a header: %j',
    async challenge => {
      const made = await createMeta();
      const [known, unknown] = [
        await sendChallenge(made.path, queryOf(made.token, challenge)),
        await sendChallenge(
          made.path.replace(made.id, '00000000-0000-0000-0000-000000000000'),
          queryOf(made.token, challenge),
        ),
      ];
      expect([known.status, unknown.status]).toEqual([422, 422]);
      expect(await known.text()).not.toContain('alert');
    },
  );

  test('signs with the app secret, and a repeated delivery starts no second run', async () => {
    const made = await createMeta({ signing_secret: SECRET });
    const body = '{"object":"whatsapp_business_account","entry":[{"id":"1","time":1767225600}]}';
    const headers = { 'X-Hub-Signature-256': `sha256=${hexOf(SECRET, body)}` };
    const send = (path: string) =>
      service.deliver({ id: made.id, secret: SECRET, path }, { body, headers, token: null, signature: null });
    const first = await send(made.path);
    expect(first.status).toBe(202);
    expect((await send(made.path.replace('/callback', ''))).body.run_id).toBe(first.body.run_id);
    const forged = { 'X-Hub-Signature-256': `sha256=${hexOf('other', body)}` };
    const refused = await service.deliver(
      { id: made.id, secret: '', path: made.path },
      { body, headers: forged, token: null, signature: null },
    );
    expect([refused.status, refused.body.code]).toEqual([401, 'bad_signature']);
  });
});

describe('Microsoft Graph', () => {
  const validate = (path: string, token: string) =>
    fetch(`${service.url}${path}?validationToken=${encodeURIComponent(token)}`, {
      method: 'POST',
      headers: { 'Content-Type': 'text/plain; charset=utf-8' },
    });
  const TOKEN = 'Validation: Testing client application reachability. Request-Id: 1b0a+2c/3=&';

  test('gets its token back as plain text, and only at the complete address', async () => {
    const webhook = await create('microsoft-graph');
    expect(webhook.path).toBe(`/v1/inbound-webhooks/${webhook.id}.${webhook.secret}`);
    expect(await textOf(await validate(webhook.path, TOKEN))).toEqual({
      status: 200,
      type: 'text/plain; charset=utf-8',
      sniff: 'nosniff',
      text: TOKEN,
    });
    expect(await latestDelivery(webhook.id)).toMatchObject({ outcome: 'accepted', code: 'challenge', run_id: null });
    for (const path of [
      `/v1/inbound-webhooks/${webhook.id}`,
      `${webhook.path}x`,
      `/v1/inbound-webhooks/00000000-0000-0000-0000-000000000000.${webhook.secret}`,
    ]) {
      const refused = await validate(path, TOKEN);
      expect([refused.status, await refused.text()]).toEqual([401, expect.not.stringContaining('Testing')]);
    }
    const body = '{"value":[{"subscriptionId":"s","changeType":"created","resource":"me/messages/1"}]}';
    const answer = await service.deliver(webhook, { body, token: null, signature: null });
    expect(await service.inputOf(answer.body.run_id)).toEqual(JSON.parse(body));
  });

  test('gets nothing back that a browser could take for a page', async () => {
    const webhook = await create('microsoft-graph');
    for (const token of ['<script>alert(1)</script>', 'a\r\nb', 'é', '', 'x'.repeat(1001)]) {
      const answer = await textOf(await validate(webhook.path, token));
      expect([answer.type, answer.sniff]).toEqual(['application/json; charset=utf-8', 'nosniff']);
      expect(answer.text).not.toContain('alert');
    }
  });

  test('is the only sender that may use the parameter', async () => {
    const webhook = await createTestWebhook(service);
    const path = `${webhook.path}?validationToken=x`;
    const refused = await service.deliver({ ...webhook, path });
    expect([refused.status, refused.body.code]).toEqual([422, 'validation_error']);
    expect((await service.deliver({ ...webhook, path }, { signature: null })).body.code).toBe('unauthenticated');
  });
});

describe('Standard Webhooks', () => {
  const signed = (secret: string, id: string, body: string) => {
    const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
    return `v1,${createHmac('sha256', key).update(`${id}.${seconds()}.${body}`).digest('base64')}`;
  };
  const headersOf = (prefix: string, id: string, signature: string) => ({
    [`${prefix}-id`]: id,
    [`${prefix}-timestamp`]: String(seconds()),
    [`${prefix}-signature`]: signature,
  });

  test('may have the names that Svix gave the headers; an id is one delivery under either', async () => {
    const webhook = await create('standard-webhooks');
    const send = (headers: Record<string, string>) =>
      service.deliver(webhook, { headers, token: null, signature: null });
    const signature = signed(webhook.secret, 'msg_7', '{"n":1}');
    const first = await send(headersOf('svix', 'msg_7', signature));
    expect(first.status).toBe(202);
    expect((await send(headersOf('webhook', 'msg_7', signature))).body.run_id).toBe(first.body.run_id);
    const { 'svix-id': id = '', ...others } = headersOf('svix', 'msg_7', signature);
    expect((await send(others)).body.code).toBe('missing_signature');
    // The header names are not mixed: an unsigned id never counts.
    expect((await send({ ...others, 'webhook-id': id })).body.code).toBe('missing_signature');
    const both = { ...headersOf('webhook', 'msg_7', signature), 'svix-id': 'msg_8' };
    expect((await send(both)).body.run_id).toBe(first.body.run_id);
    const forged = headersOf('svix', 'msg_8', signature);
    expect((await send(forged)).body.code).toBe('bad_signature');
  });
});
