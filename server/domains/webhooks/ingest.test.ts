import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { createTestPat, createTestTenant } from '../../testing/identity.ts';
import { asking, publishGraph } from '../../testing/runs.ts';
import {
  type Answer,
  createTestWebhook,
  sign,
  startWebhookService,
  type TestWebhook,
  tokenOf,
  type WebhookService,
} from '../../testing/webhooks.ts';
import { createTestProject } from '../../testing/workflows.ts';
import { settleDeliveries } from './delivery-log.ts';
import { MAX_DELIVERY_BYTES } from './schemas.ts';

let service: WebhookService;
let webhook: TestWebhook;

beforeAll(async () => {
  service = await startWebhookService();
  webhook = await createTestWebhook(service);
});
afterAll(() => service.close());

const seconds = () => Math.floor(service.clock.now() / 1000);
async function runOf({ body }: Answer): Promise<Record<string, unknown>> {
  const { rows } = await service.db.pool.query('SELECT * FROM runs WHERE id = $1', [body.run_id]);
  return rows[0];
}
const countRuns = async () => Number((await service.db.pool.query('SELECT count(*) FROM runs')).rows[0].count);

describe('a delivery', () => {
  test('starts a run with the posted body as its input', async () => {
    const answer = await service.deliver(webhook, { body: '{"order": 7}' });
    expect([answer.status, answer.body]).toEqual([
      202,
      {
        run_id: expect.any(String),
        status: 'running',
        workflow_id: service.workflow,
        started_at: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/),
      },
    ]);
    expect(await service.inputOf(answer.body.run_id)).toEqual({ order: 7 });
    expect(await runOf(answer)).toMatchObject({
      trigger_type: 'webhook',
      started_by: service.tenant.contributor.email,
      tenant_id: 'acme',
    });
  });

  test('takes its turn among the requests of its workspace', async () => {
    const take = vi.spyOn(service.services.requestTurns, 'take');
    expect((await service.deliver(webhook)).status).toBe(202);
    expect((await service.deliver(webhook, { signature: 'v1=wrong' })).status).toBe(401);
    expect(take.mock.calls.map(([tenantId]) => tenantId)).toEqual(['acme']);
    take.mockRestore();
  });

  test.each([
    ['[1,{"a":2}]', [1, { a: 2 }]],
    ['"text"', 'text'],
    ['17', 17],
    ['null', null],
    ['false', false],
  ])('of %s, which is no object, is wrapped', async (body, value) => {
    const answer = await service.deliver(webhook, { body });
    expect(await service.inputOf(answer.body.run_id)).toEqual({ body: value });
  });

  test('may carry names that a start reserves: they are data, and so is __proto__', async () => {
    const body =
      '{"run_id":"x","mode":"episode","trigger_steps":{"no":{}},"use_run_setup_defaults":true,"__proto__":{"a":1}}';
    const answer = await service.deliver(webhook, { body });
    expect(answer.status).toBe(202);
    expect(JSON.stringify(await service.inputOf(answer.body.run_id))).toBe(body);
  });

  test('is merged over the fixed payload, at every depth', async () => {
    const fixed = await createTestWebhook(service, {
      extras: { trigger_payload: { a: { x: 1, y: 1 }, b: [1], c: 1 } },
    });
    const answer = await service.deliver(fixed, { body: '{"a":{"y":2},"b":[2]}' });
    expect(await service.inputOf(answer.body.run_id)).toEqual({ a: { x: 1, y: 2 }, b: [2], c: 1 });
  });

  test('uses saved defaults only if the webhook says so, whatever the version says', async () => {
    const setup = { trigger_payload: { saved: true }, use_as_default: true };
    const workflow_id = await publishGraph(service.services, service.tenant.owner, asking(), setup);
    for (const [extras, input] of [
      [{}, { n: 1 }],
      [{ use_run_setup_defaults: false }, { n: 1 }],
      [{ use_run_setup_defaults: true }, { n: 1, saved: true }],
    ]) {
      const made = await createTestWebhook(service, { workflow_id, extras });
      expect(await service.inputOf((await service.deliver(made)).body.run_id)).toEqual(input);
    }
  });

  test('belongs to the user of the stored token, if there is one', async () => {
    const { token: automation_bearer } = await createTestPat(service.services, service.tenant.owner, ['workflow:run']);
    const made = await createTestWebhook(service, { automation_bearer });
    expect(await runOf(await service.deliver(made))).toMatchObject({ started_by: service.tenant.owner.email });
  });

  test.each([
    ['application/json; charset=utf-8', 202],
    ['Application/JSON', 202],
    ['application/json, text/plain', 415],
    ['application/jsonx', 415],
    ['multipart/form-data; boundary=application/json', 415],
    ['image/png', 415],
    ['nonsense', 415],
  ])('as %s is %i, and 401 as long as it is not signed', async (type, status) => {
    expect((await service.deliver(webhook, { type })).status).toBe(status);
    const unsigned = await service.deliver(webhook, { type, signature: null });
    expect([unsigned.status, unsigned.body.code]).toEqual([401, 'unauthenticated']);
  });

  test('may be as large as 256 KiB, and not a byte larger', async () => {
    const sized = (bytes: number) => `"${'x'.repeat(bytes - 2)}"`;
    expect((await service.deliver(webhook, { body: sized(MAX_DELIVERY_BYTES - 1) })).status).toBe(202);
    expect((await service.deliver(webhook, { body: sized(MAX_DELIVERY_BYTES) })).status).toBe(202);
    const over = await service.deliver(webhook, { body: sized(MAX_DELIVERY_BYTES + 1), token: null, signature: null });
    expect([over.status, over.body.code]).toEqual([413, 'body_too_large']);
    const body = new ReadableStream({
      start(controller) {
        for (let part = 0; part < 5; part++) controller.enqueue(new Uint8Array(64 * 1024));
        controller.close();
      },
    });
    const headers = { 'Content-Type': 'application/json' };
    const chunked = { method: 'POST', headers, body, duplex: 'half' } as RequestInit;
    expect((await fetch(service.url + webhook.path, chunked)).status).toBe(413);
  });

  test.each(['{', '{"a":1}x', "{'a':1}", '\uFEFF{"a":1', '\uFEFF\uFEFF{}', 'NaN'])(
    'of %j is 400, if it is well signed',
    async body => {
      const answer = await service.deliver(webhook, { body });
      expect([answer.status, answer.body.code]).toEqual([400, 'malformed_body']);
      expect((await service.deliver(webhook, { body, signature: null })).status).toBe(401);
      expect((await service.deliver(webhook, { body, token: null })).status).toBe(401);
    },
  );

  test('that is not UTF-8 is 400, although its bytes are correctly signed', async () => {
    const body = new Uint8Array([0x22, 0xff, 0x22]);
    expect((await service.deliver(webhook, { body })).status).toBe(400);
  });

  test('nested deeper than 100 levels is refused without a stack to overflow', async () => {
    const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
    expect((await service.deliver(webhook, { body: nested(98) })).status).toBe(202);
    expect((await service.deliver(webhook, { body: nested(101) })).body.code).toBe('too_deep');
    expect((await service.deliver(webhook, { body: nested(MAX_DELIVERY_BYTES / 2) })).body.code).toBe('too_deep');
  });

  test('with text that cannot be stored is 422', async () => {
    const answer = await service.deliver(webhook, { body: '{"a":"\\u0000"}' });
    expect([answer.status, answer.body.code]).toEqual([422, 'invalid_input']);
  });

  test('that does not fit the input schema of the workflow is 422 with the paths, and is recorded', async () => {
    const input_schema = { required: ['order'], properties: { order: { type: 'integer' } } };
    const graph = { ...asking(), input_schema };
    const workflow_id = await publishGraph(service.services, service.tenant.owner, graph);
    const made = await createTestWebhook(service, { workflow_id });
    const before = await countRuns();
    const timestamp = seconds();
    const refused = await service.deliver(made, { body: '{"order": "7"}', timestamp });
    expect([refused.status, refused.body.code]).toEqual([422, 'invalid_input']);
    expect(refused.body.details).toMatchObject([{ path: 'input.order' }]);
    expect(await countRuns()).toBe(before);
    await settleDeliveries(service.services);
    const { body } = await service.call(service.manager, 'GET', `${made.path}/deliveries`);
    expect(body.deliveries).toMatchObject([{ outcome: 'rejected', http_status: 422, code: 'invalid_input' }]);
    expect((await service.deliver(made, { body: '{"order": 7}', timestamp })).status).toBe(202);
  });

  test('to an unpublished workflow is 422 with its code', async () => {
    const { body } = await service.call(service.manager, 'POST', '/v1/workflows', { name: 'Draft' });
    const made = await createTestWebhook(service, { workflow_id: body.id });
    expect((await service.deliver(made)).body).toMatchObject({ code: 'no_published_version' });
  });

  test('accepts no query', async () => {
    expect((await service.deliver({ ...webhook, path: `${webhook.path}?token=x` })).status).toBe(422);
  });
});

describe('a timestamp', () => {
  test('is part of the signed message, wherever it is sent', async () => {
    expect((await service.deliver(webhook, { timestamp: seconds() })).status).toBe(202);
    const signature = sign(webhook.secret, '{"n":1}');
    expect((await service.deliver(webhook, { timestamp: seconds(), signature })).status).toBe(401);
    expect((await service.deliver(webhook, { signature: sign(webhook.secret, '{"n":1}', seconds()) })).status).toBe(
      401,
    );
  });

  test('may be five minutes off, and no more, in either direction', async () => {
    service.clock.advance(1000 - (service.clock.now() % 1000)); // a whole second, so that the limit is exact
    for (const [off, status] of [
      [-300, 202],
      [300, 202],
      [-301, 401],
      [301, 401],
      [-86_400, 401],
    ] as const) {
      expect([off, (await service.deliver(webhook, { timestamp: seconds() + off })).status]).toEqual([off, status]);
    }
    service.clock.advance(1);
    expect((await service.deliver(webhook, { timestamp: seconds() - 300 })).status).toBe(401);
  });

  test('must be present if the webhook requires it', async () => {
    const strict = await createTestWebhook(service, { require_timestamp: true });
    expect((await service.deliver(strict)).status).toBe(401);
    expect((await service.deliver(strict, { timestamp: seconds() })).status).toBe(202);
  });

  test.each(['', '1e9', '-5', '12.5', '0x10', '9999999999999', 'now', ' '])('%j is malformed', async timestamp => {
    expect((await service.deliver(webhook, { timestamp })).status).toBe(401);
  });
});

describe('one and the same 401', () => {
  const plain = { code: 'unauthenticated', error: 'Authentication is missing or invalid.', request_id: '' };

  async function expectRefused(answer: Answer): Promise<void> {
    expect({ ...answer.body, request_id: '' }).toEqual(plain);
    expect(answer.status).toBe(401);
    expect(answer.headers.get('www-authenticate')).toBe('Bearer');
  }

  test.each([
    '00000000-0000-0000-0000-000000000000',
    '01890000-0000-7000-8000-000000000000',
    'not-an-id',
    '%00',
    '%2e%2e%2fworkflows',
    "';drop table webhook_subscriptions;--",
    'x'.repeat(2000),
  ])('for the id %.40s', async id => {
    await expectRefused(await service.deliver({ ...webhook, path: `/v1/inbound-webhooks/${encodeURI(id)}` }));
  });

  const signatures: [string, (body: string) => string | null][] = [
    ['none', () => null],
    ['an empty one', () => ''],
    ['one without its prefix', body => sign(webhook.secret, body).slice(7)],
    ['one of another method', body => sign(webhook.secret, body).replace('sha256', 'sha1')],
    ['one of another body', () => sign(webhook.secret, '{"n":2}')],
    ['one with another secret', body => sign('whsec_other', body)],
    ['one with the secret without its prefix', body => sign(webhook.secret.slice(6), body)],
    ['one with an empty secret', body => sign('', body)],
    ['a cut one', body => sign(webhook.secret, body).slice(0, -1)],
    ['a longer one', body => `${sign(webhook.secret, body)}0`],
    ['two in one', body => `${sign(webhook.secret, body)}, ${sign(webhook.secret, body)}`],
  ];
  test.each(signatures)('for the signature: %s', async (_, signature) => {
    const before = await countRuns();
    await expectRefused(await service.deliver(webhook, { signature: signature('{"n":1}') }));
    expect(await countRuns()).toBe(before);
  });

  test('for a token that is missing, malformed, unknown, or no Bearer', async () => {
    const others = { Authorization: `Basic ${service.token}` };
    for (const token of [
      null,
      'x',
      `${service.token}x`,
      `pat_${'0'.repeat(46)}`,
      `${service.token} ${service.token}`,
    ]) {
      await expectRefused(await service.deliver(webhook, { token }));
    }
    await expectRefused(await service.deliver(webhook, { headers: others }));
    await expectRefused(
      await service.deliver(webhook, { token: null, headers: { Cookie: 'next-auth.session-token=x' } }),
    );
  });

  test('for a token without the scope, of another tenant, of another project, or of a viewer', async () => {
    const { services, tenant } = service;
    const rival = await createTestTenant(services, { slug: 'rival' });
    const other = await createTestProject(services, tenant, 'other');
    const tokens = [
      await tokenOf(services, tenant, ['workflow:read', 'webhook:manage']),
      (await createTestPat(services, rival.owner, ['workflow:run'])).token,
      (await createTestPat(services, other.contributor, ['workflow:run'])).token,
      (await createTestPat(services, tenant.viewer, ['workflow:run'])).token,
    ];
    for (const token of tokens) await expectRefused(await service.deliver(webhook, { token }));
  });

  test('for a token that was revoked, has expired, or whose user was demoted or removed', async () => {
    const { services, tenant, db } = service;
    const spoilt: [string, (patId: string) => Promise<unknown>][] = [
      ['revoked', id => db.pool.query('UPDATE pats SET revoked_at = $2 WHERE id = $1', [id, new Date()])],
      [
        'expired',
        id => db.pool.query('UPDATE pats SET expires_at = $2 WHERE id = $1', [id, new Date(service.clock.now())]),
      ],
    ];
    for (const [, spoil] of spoilt) {
      const { token, principal } = await createTestPat(services, tenant.contributor, ['workflow:run']);
      expect((await service.deliver(webhook, { token })).status).toBe(202);
      if (principal.credential.kind === 'pat') await spoil(principal.credential.patId);
      await expectRefused(await service.deliver(webhook, { token }));
    }
    const { token } = await createTestPat(services, tenant.owner, ['workflow:run']);
    const { userId } = tenant.owner;
    const demote = (admin: boolean) =>
      db.pool.query('UPDATE memberships SET tenant_admin = $2 WHERE user_id = $1', [userId, admin]);
    await demote(false);
    await db.pool.query('UPDATE project_members SET role = $2 WHERE user_id = $1', [userId, 'project_viewer']);
    await expectRefused(await service.deliver(webhook, { token }));
    await demote(true);
    expect((await service.deliver(webhook, { token })).status).toBe(202);
  });

  test('for a stored token that is not valid, even if the delivering one is', async () => {
    const { token: automation_bearer, principal } = await createTestPat(service.services, service.tenant.owner, [
      'workflow:run',
    ]);
    const made = await createTestWebhook(service, { automation_bearer });
    expect((await service.deliver(made)).status).toBe(202);
    const id = principal.credential.kind === 'pat' ? principal.credential.patId : '';
    await service.db.pool.query('UPDATE pats SET revoked_at = $2 WHERE id = $1', [id, new Date()]);
    await expectRefused(await service.deliver(made));
  });

  test('for a webhook that is switched off, deleted, or whose workflow was archived', async () => {
    const off = await createTestWebhook(service);
    await service.call(service.manager, 'PATCH', off.path, { enabled: false });
    await expectRefused(await service.deliver(off));
    await service.call(service.manager, 'PATCH', off.path, { enabled: true });
    expect((await service.deliver(off)).status).toBe(202);
    expect((await service.call(service.manager, 'DELETE', off.path)).status).toBe(204);
    await expectRefused(await service.deliver(off));
    const workflow_id = await publishGraph(service.services, service.tenant.owner, asking());
    const archived = await createTestWebhook(service, { workflow_id });
    await service.call(service.manager, 'DELETE', `/v1/workflows/${workflow_id}`);
    await expectRefused(await service.deliver(archived));
  });
});

describe('a workflow whose steps call tools', () => {
  const graph = { steps: [...asking().steps, { id: 'tool', type: 'mcp_call', depends_on: ['ask'] }] };

  test('is started by tokens with mcp:execute alone: the one that delivers, and the stored one', async () => {
    const { services, tenant } = service;
    const workflow_id = await publishGraph(services, tenant.owner, graph);
    const plain = await createTestWebhook(service, { workflow_id });
    const full = await tokenOf(services, tenant, ['workflow:run', 'mcp:execute']);
    const stored = await createTestWebhook(service, { workflow_id, automation_bearer: service.token });
    const before = await countRuns();
    for (const [target, token] of [
      [plain, service.token],
      [stored, full],
    ] as const) {
      const { status, body } = await service.deliver(target, { token });
      expect([status, body.code]).toEqual([403, 'insufficient_scope']);
    }
    expect(await countRuns()).toBe(before);
    expect((await service.deliver(plain, { token: full })).status).toBe(202);
  });
});

describe('an Idempotency-Key', () => {
  // Equal bodies without a timestamp count as one delivery for five minutes, even under different keys
  // (replay.test.ts).
  let webhook: TestWebhook;
  beforeEach(async () => {
    webhook = await createTestWebhook(service);
  });
  const keyed = (key: string, body = '{"n":1}') =>
    service.deliver(webhook, { body, headers: { 'Idempotency-Key': key } });

  test('answers the same body the same, and starts one run for any number of concurrent requests', async () => {
    const before = await countRuns();
    const answers = await Promise.all(Array.from({ length: 12 }, () => keyed('at once')));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]));
    expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1);
    expect(await countRuns()).toBe(before + 1);
    expect((await keyed('at once', '{ "n": 1 }')).body).toEqual(answers[0]?.body);
  });

  test('with another body is 409', async () => {
    await keyed('reused');
    expect((await keyed('reused', '{"n":2}')).body).toMatchObject({ code: 'idempotency_key_reused' });
  });

  test('is the webhook’s own, and kept for 24 hours', async () => {
    const other = await createTestWebhook(service);
    const first = await keyed('scoped');
    const headers = { 'Idempotency-Key': 'scoped' };
    expect((await service.deliver(other, { headers })).body.run_id).not.toBe(first.body.run_id);
    service.clock.advance(24 * 60 * 60 * 1000 - 1);
    expect((await keyed('scoped')).body).toEqual(first.body);
    service.clock.advance(1);
    // The same payload with a different signature: the identity of the last delivery is known for five minutes more.
    expect((await keyed('scoped', '{ "n": 1 }')).body.run_id).not.toBe(first.body.run_id);
  });

  test('that is malformed is 422, but only for authenticated deliveries', async () => {
    const headers = { 'Idempotency-Key': 'x'.repeat(256) };
    expect((await service.deliver(webhook, { headers })).body.code).toBe('invalid_idempotency_key');
    expect((await service.deliver(webhook, { headers, signature: null })).status).toBe(401);
    expect((await service.deliver(webhook, { headers: { 'Idempotency-Key': 'x'.repeat(255) } })).status).toBe(202);
  });

  test('of a refused start may be used again', async () => {
    const { manager } = service;
    const { body } = await service.call(manager, 'POST', '/v1/workflows', { name: 'Later', graph: asking() });
    const made = await createTestWebhook(service, { workflow_id: body.id });
    const headers = { 'Idempotency-Key': 'later' };
    expect((await service.deliver(made, { headers })).status).toBe(422);
    await service.call(manager, 'POST', `/v1/workflows/${body.id}/versions`, { changelog: '' });
    expect((await service.deliver(made, { headers })).status).toBe(202);
  });
});
