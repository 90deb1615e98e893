import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { unavailable } from '../../platform/errors.ts';
import { createTestPat, createTestTenant } from '../../testing/identity.ts';
import { asking, publishGraph } from '../../testing/runs.ts';
import {
  type Answer,
  createTestWebhook,
  startWebhookService,
  tokenOf,
  type WebhookService,
} from '../../testing/webhooks.ts';
import { createTestProject } from '../../testing/workflows.ts';
import { settleDeliveries } from './delivery-log.ts';
import { MAX_WEBHOOKS } from './schemas.ts';

const base = '/v1/inbound-webhooks';
let service: WebhookService;

beforeAll(async () => {
  service = await startWebhookService();
});
afterAll(() => service.close());

const create = (body: Record<string, unknown>, token = service.manager): Promise<Answer> =>
  service.call(token, 'POST', base, { workflow_id: service.workflow, name: 'Orders', ...body });
const patch = (path: string, body: unknown, token = service.manager) => service.call(token, 'PATCH', path, body);
type Shown = Record<string, unknown> & { id: string };
const subscriptionOf = ({ body }: Answer) => (body as unknown as { subscription: Shown }).subscription;
const details = ({ body }: Answer) => body.details as unknown as { path: string; message: string }[];

describe('creating', () => {
  test('returns the webhook, its secret once, and its address', async () => {
    const { status, body } = await create({ extras: { trigger_payload: { a: 1 } } });
    expect(status).toBe(201);
    const subscription = subscriptionOf({ status, body, headers: new Headers() });
    const path = `${base}/${subscription.id}`;
    const url = `${service.services.config.http.url}${path}`;
    expect(body).toEqual({
      signing_secret: expect.stringMatching(/^whsec_[A-Za-z0-9_-]{43}$/),
      ingress_url: url,
      ingress_path: path,
      subscription: {
        id: expect.any(String),
        tenant_id: 'acme',
        project_id: service.tenant.projectId,
        workflow_id: service.workflow,
        workflow_name: 'Under test',
        name: 'Orders',
        enabled: true,
        automation_pat_id: null,
        automation_email: null,
        extras: { trigger_payload: { a: 1 } },
        preset: 'baton',
        username: null,
        has_secret: true,
        require_timestamp: false,
        previous_secret_expires_at: null,
        ingress_url: url,
        ingress_path: path,
        last_delivery: null,
        created_at: expect.any(String),
        updated_at: expect.any(String),
      },
    });
    const listed = await service.call(service.manager, 'GET', base);
    const got = await service.call(service.manager, 'GET', path);
    expect(got.body).toEqual(subscription);
    expect(JSON.stringify([listed.body, got.body])).not.toContain('whsec_');
    const { rows } = await service.db.pool.query(
      'SELECT * FROM webhook_subscriptions s JOIN secrets x ON x.name LIKE $1',
      [`%${subscription.id}`],
    );
    expect(JSON.stringify(rows)).not.toContain(body.signing_secret);
  });

  test('needs a workflow of the project that is not archived', async () => {
    const rival = await createTestTenant(service.services, { slug: 'rival' });
    const foreign = await publishGraph(service.services, rival.owner, asking());
    for (const workflow_id of [foreign, '01890000-0000-7000-8000-000000000000']) {
      expect((await create({ workflow_id })).status).toBe(404);
    }
    const workflow_id = await publishGraph(service.services, service.tenant.owner, asking());
    await service.call(service.manager, 'DELETE', `/v1/workflows/${workflow_id}`);
    const archived = await create({ workflow_id });
    expect([archived.status, archived.body.code]).toEqual([422, 'workflow_archived']);
  });

  test('leaves nothing behind if it is refused', async () => {
    const count = async () => (await service.db.pool.query('SELECT count(*) FROM secrets')).rows[0].count;
    const before = await count();
    await create({ workflow_id: '01890000-0000-7000-8000-000000000000' });
    expect(await count()).toBe(before);
  });

  test.each([
    [{ name: ' ' }, 'name'],
    [{ name: 'x'.repeat(201) }, 'name'],
    [{ extras: { other: 1 } }, 'extras.other'],
    [{ extras: { trigger_payload: [] } }, 'extras.trigger_payload'],
    [{ extras: { trigger_payload: { a: 'x'.repeat(256 * 1024) } } }, 'extras'],
    [{ require_timestamp: 'yes' }, 'require_timestamp'],
    [{ enabled: false }, 'enabled'],
  ])('refuses %.60j', async (body, path) => {
    const answer = await create(body);
    expect(answer.status).toBe(422);
    expect(details(answer).map(detail => detail.path)).toContain(path);
  });

  test('is 503 if the secret store is unavailable', async () => {
    const put = async () => Promise.reject(unavailable('secret_store_unavailable', 'Away.'));
    const secrets = Object.assign(Object.create(service.services.secrets), { put });
    const at = await startWebhookService({ secrets });
    try {
      const answer = await at.call(at.manager, 'POST', base, { workflow_id: at.workflow, name: 'Orders' });
      expect(answer.status).toBe(503);
      expect((await at.db.pool.query('SELECT id FROM webhook_subscriptions')).rows).toEqual([]);
    } finally {
      await at.close();
    }
  });
});

describe('the automation token', () => {
  const idOf = (principal: Awaited<ReturnType<typeof createTestPat>>['principal']) =>
    principal.credential.kind === 'pat' ? principal.credential.patId : '';
  const patOf = (
    who: 'owner' | 'contributor' | 'viewer',
    scopes: Parameters<typeof createTestPat>[2] = ['workflow:run'],
  ) => createTestPat(service.services, service.tenant[who], scopes);
  const refused = ['invalid_automation_token', 422];
  const outcome = ({ status, body }: Answer) => [body.code, status];

  test('may be one’s own, and an administrator may name any', async () => {
    const own = await patOf('contributor');
    const made = await create({ automation_pat_id: idOf(own.principal) });
    expect(subscriptionOf(made)).toMatchObject({
      automation_pat_id: idOf(own.principal),
      automation_email: service.tenant.contributor.email,
    });
    const theirs = await patOf('owner');
    expect(outcome(await create({ automation_pat_id: idOf(theirs.principal) }))).toEqual(refused);
    const admin = (await patOf('owner', ['webhook:manage', 'workflow:run'])).token;
    expect((await create({ automation_pat_id: idOf(own.principal) }, admin)).status).toBe(201);
  });

  test('may be entered by everyone who has it; only its id is stored', async () => {
    const theirs = await patOf('owner');
    const made = await create({ automation_bearer: theirs.token });
    expect(subscriptionOf(made)).toMatchObject({ automation_pat_id: idOf(theirs.principal) });
    const { rows } = await service.db.pool.query('SELECT * FROM webhook_subscriptions');
    expect(JSON.stringify(rows)).not.toContain(theirs.token);
  });

  test('must be live, of this project, with workflow:run, its user a contributor', async () => {
    const { services, tenant, db } = service;
    const rival = await createTestTenant(services, { slug: 'other-tenant' });
    const project = await createTestProject(services, tenant, 'aside');
    const revoked = await patOf('contributor');
    await db.pool.query('UPDATE pats SET revoked_at = $2 WHERE id = $1', [idOf(revoked.principal), new Date()]);
    const expired = await patOf('contributor');
    await db.pool.query('UPDATE pats SET expires_at = $2 WHERE id = $1', [
      idOf(expired.principal),
      new Date(service.clock.now()),
    ]);
    const bad = [
      revoked,
      expired,
      await patOf('contributor', ['workflow:read']),
      await patOf('viewer'),
      await createTestPat(services, rival.owner, ['workflow:run']),
      await createTestPat(services, project.contributor, ['workflow:run']),
    ];
    const admin = (await patOf('owner', ['webhook:manage', 'workflow:run'])).token;
    for (const { token, principal } of bad) {
      expect(outcome(await create({ automation_bearer: token }, admin))).toEqual(refused);
      expect(outcome(await create({ automation_pat_id: idOf(principal) }, admin))).toEqual(refused);
    }
    for (const automation_bearer of ['', 'x', `pat_${'0'.repeat(46)}`]) {
      expect(outcome(await create({ automation_bearer }))).toEqual(refused);
    }
    expect(outcome(await create({ automation_pat_id: service.workflow }))).toEqual(refused);
    const both = await patOf('contributor');
    expect(outcome(await create({ automation_pat_id: idOf(both.principal), automation_bearer: both.token }))).toEqual(
      refused,
    );
  });

  test('cannot be stored by a token that could not start runs itself', async () => {
    const weak = await tokenOf(service.services, service.tenant, ['webhook:manage']);
    const own = await patOf('contributor');
    const answer = await create({ automation_pat_id: idOf(own.principal) }, weak);
    expect([answer.status, answer.body.code]).toEqual([403, 'insufficient_scope']);
    expect((await create({ automation_bearer: own.token }, weak)).status).toBe(403);
    const { path } = await createTestWebhook(service);
    expect((await patch(path, { automation_pat_id: idOf(own.principal) }, weak)).status).toBe(403);
    expect((await patch(path, { automation_pat_id: null, name: 'Renamed' }, weak)).status).toBe(200);
  });

  test('can be replaced and removed', async () => {
    const own = await patOf('contributor');
    const { path } = await createTestWebhook(service, { automation_bearer: own.token });
    const other = await patOf('contributor');
    expect((await patch(path, { automation_pat_id: idOf(other.principal) })).body).toMatchObject({
      automation_pat_id: idOf(other.principal),
    });
    expect((await patch(path, { automation_pat_id: null })).body).toMatchObject({ automation_pat_id: null });
    expect(outcome(await patch(path, { automation_pat_id: idOf((await patOf('owner')).principal) }))).toEqual(refused);
  });
});

describe('changing', () => {
  test('name, extras, timestamp and state, each by itself', async () => {
    const { path } = await createTestWebhook(service, { extras: { trigger_payload: { a: 1 } } });
    for (const change of [
      { name: 'Renamed' },
      // Keys that have a special meaning for the database's client.
      { extras: { trigger_payload: { a: { $type: 'Json', value: 1 }, b: [{ $type: 'x', set: 1 }] } } },
      { extras: { use_run_setup_defaults: true } },
      { require_timestamp: true },
      { enabled: false },
    ]) {
      const { status, body } = await patch(path, change);
      expect([status, body]).toEqual([200, expect.objectContaining(change)]);
      expect(body).not.toHaveProperty('signing_secret');
    }
    expect((await service.call(service.manager, 'GET', path)).body).toMatchObject({
      name: 'Renamed',
      extras: { use_run_setup_defaults: true },
      require_timestamp: true,
      enabled: false,
    });
    expect((await patch(path, { workflow_id: service.workflow })).status).toBe(422);
  });

  test('archiving the workflow switches its webhooks off, and nothing switches them on again', async () => {
    const workflow_id = await publishGraph(service.services, service.tenant.owner, asking());
    const { path } = await createTestWebhook(service, { workflow_id });
    const other = await createTestWebhook(service);
    await service.call(service.manager, 'DELETE', `/v1/workflows/${workflow_id}`);
    expect((await service.call(service.manager, 'GET', path)).body).toMatchObject({ enabled: false });
    expect((await service.call(service.manager, 'GET', other.path)).body).toMatchObject({ enabled: true });
    expect((await patch(path, { enabled: true })).body).toMatchObject({ code: 'workflow_archived' });
    const { rows } = await service.db.pool.query('SELECT enabled FROM webhook_subscriptions WHERE workflow_id = $1', [
      workflow_id,
    ]);
    expect(rows).toEqual([{ enabled: false }]);
    // Simulates a webhook that was created without being seen by the archiving.
    await service.db.pool.query('UPDATE webhook_subscriptions SET enabled = true WHERE workflow_id = $1', [
      workflow_id,
    ]);
    expect((await service.call(service.manager, 'GET', path)).body).toMatchObject({ enabled: false });
  });
});

describe('rotating the secret', () => {
  test('returns a new one, once, and accepts the old one for a while', async () => {
    const old = await createTestWebhook(service);
    const { body } = await patch(old.path, { rotate_secret: true });
    const rotated = { ...old, secret: body.signing_secret ?? '' };
    expect(rotated.secret).toMatch(/^whsec_/);
    expect(rotated.secret).not.toBe(old.secret);
    const until = new Date(service.clock.now() + 86_400_000).toISOString();
    expect(body.previous_secret_expires_at).toBe(until);
    const statuses = async () => [(await service.deliver(old)).status, (await service.deliver(rotated)).status];
    expect(await statuses()).toEqual([202, 202]);
    service.clock.advance(86_400_000 - 1);
    expect(await statuses()).toEqual([202, 202]);
    service.clock.advance(1);
    expect(await statuses()).toEqual([401, 202]);
    expect((await service.call(service.manager, 'GET', old.path)).body).toMatchObject({
      previous_secret_expires_at: null,
    });
  });

  test('with no overlap refuses the old one at once; twice refuses the first', async () => {
    const first = await createTestWebhook(service);
    const rotate = async (overlap: number) => {
      const { body } = await patch(first.path, { rotate_secret: true, rotation_overlap_s: overlap });
      return { ...first, secret: body.signing_secret ?? '' };
    };
    const second = await rotate(60);
    const third = await rotate(60);
    const answers = async (...sent: (typeof first)[]) =>
      Promise.all(sent.map(async each => (await service.deliver(each)).status));
    expect(await answers(first, second, third)).toEqual([401, 202, 202]);
    const fourth = await rotate(0);
    expect(await answers(second, third, fourth)).toEqual([401, 401, 202]);
  });

  test('by two at once leaves both with a secret that is accepted', async () => {
    const webhook = await createTestWebhook(service);
    const answers = await Promise.all([1, 2].map(() => patch(webhook.path, { rotate_secret: true })));
    for (const { body } of answers) {
      expect((await service.deliver({ ...webhook, secret: body.signing_secret ?? '' })).status).toBe(202);
    }
  });

  test.each([
    { rotation_overlap_s: 60 },
    { rotate_secret: false, rotation_overlap_s: 60 },
    { rotate_secret: true, rotation_overlap_s: -1 },
    { rotate_secret: true, rotation_overlap_s: 604_801 },
    { rotate_secret: true, rotation_overlap_s: 1.5 },
  ])('refuses %j', async body => {
    const webhook = await createTestWebhook(service);
    expect((await patch(webhook.path, body)).status).toBe(422);
    expect((await service.deliver(webhook)).status).toBe(202);
  });

  test('accepts the longest overlap', async () => {
    const webhook = await createTestWebhook(service);
    expect((await patch(webhook.path, { rotate_secret: true, rotation_overlap_s: 604_800 })).status).toBe(200);
  });
});

describe('deleting', () => {
  test('also deletes the secret and the deliveries', async () => {
    const webhook = await createTestWebhook(service);
    await service.deliver(webhook);
    await settleDeliveries(service.services);
    expect((await service.call(service.manager, 'DELETE', webhook.path)).status).toBe(204);
    expect(await service.services.secrets.get('acme', `webhook/${webhook.id}`)).toBeNull();
    const { rows } = await service.db.pool.query('SELECT 1 FROM webhook_deliveries WHERE subscription_id = $1', [
      webhook.id,
    ]);
    expect(rows).toEqual([]);
    expect((await service.call(service.manager, 'GET', webhook.path)).status).toBe(404);
    expect((await service.call(service.manager, 'DELETE', webhook.path)).status).toBe(404);
  });
});

describe('a test delivery', () => {
  test('starts a real run in the caller’s name, with the fixed payload beneath, and is in the deliveries', async () => {
    const webhook = await createTestWebhook(service, { extras: { trigger_payload: { fixed: 1 } } });
    const answer = await service.call(service.manager, 'POST', `${webhook.path}/test`, { payload: { n: 2 } });
    expect(answer.status).toBe(202);
    expect(await service.inputOf(answer.body.run_id)).toEqual({ fixed: 1, n: 2 });
    const { rows } = await service.db.pool.query('SELECT trigger_type, started_by FROM runs WHERE id = $1', [
      answer.body.run_id,
    ]);
    const { email } = service.tenant.contributor;
    expect(rows).toEqual([{ trigger_type: 'webhook', started_by: email }]);
    await settleDeliveries(service.services);
    const { body } = await service.call(service.manager, 'GET', `${webhook.path}/deliveries`);
    expect(body.deliveries).toEqual([
      expect.objectContaining({
        outcome: 'accepted',
        run_id: answer.body.run_id,
        message: `Test by ${email}.`,
        bytes: 7,
      }),
    ]);
    const shown = await service.call(service.manager, 'GET', webhook.path);
    expect(shown.body.last_delivery).toMatchObject({ outcome: 'accepted', http_status: 202 });
  });

  test('with any JSON, or without a body, is processed like a delivery', async () => {
    const webhook = await createTestWebhook(service);
    const send = async (body: unknown) =>
      service.inputOf((await service.call(service.manager, 'POST', `${webhook.path}/test`, body)).body.run_id);
    expect(await send({ payload: [1] })).toEqual({ body: [1] });
    expect(await send({ payload: null })).toEqual({ body: null });
    expect(await send({})).toEqual({});
  });

  test('is refused as a delivery would be, and that is recorded', async () => {
    const { body } = await service.call(service.manager, 'POST', '/v1/workflows', { name: 'Draft' });
    const webhook = await createTestWebhook(service, { workflow_id: body.id });
    const send = (payload: unknown) => service.call(service.manager, 'POST', `${webhook.path}/test`, { payload });
    expect((await send({})).body).toMatchObject({ code: 'no_published_version' });
    await settleDeliveries(service.services);
    const deliveries = await service.call(service.manager, 'GET', `${webhook.path}/deliveries`);
    expect(deliveries.body.deliveries).toMatchObject([{ outcome: 'rejected', code: 'no_published_version' }]);
    expect((await send('x'.repeat(256 * 1024))).status).toBe(422);
    await patch(webhook.path, { enabled: false });
    expect((await send({})).body).toMatchObject({ code: 'webhook_disabled' });
  });
});

describe('the list', () => {
  test('is paged, newest first, and may be of one workflow', async () => {
    const workflow_id = await publishGraph(service.services, service.tenant.owner, asking());
    const made: string[] = [];
    for (let at = 0; at < 3; at++) {
      service.clock.advance(1000);
      made.unshift((await createTestWebhook(service, { workflow_id })).id);
    }
    const readSubscriptions = async (query: string) =>
      (await service.call(service.manager, 'GET', `${base}?workflow_id=${workflow_id}&${query}`)).body as unknown as {
        subscriptions: Shown[];
        next_cursor: string | null;
      };
    const first = await readSubscriptions('limit=2');
    const rest = await readSubscriptions(`limit=2&cursor=${first.next_cursor}`);
    expect([...first.subscriptions, ...rest.subscriptions].map(({ id }) => id)).toEqual(made);
    expect(rest.next_cursor).toBeNull();
  });

  test('is the project’s own', async () => {
    const project = await createTestProject(service.services, service.tenant, 'beside');
    const { token } = await createTestPat(service.services, project.contributor, ['webhook:manage']);
    const { path } = await createTestWebhook(service);
    expect((await service.call(token, 'GET', base)).body.subscriptions).toEqual([]);
    expect((await service.call(token, 'GET', path)).status).toBe(404);
    expect((await service.call(token, 'DELETE', path)).status).toBe(404);
    expect((await patch(path, { rotate_secret: true }, token)).status).toBe(404);
  });

  test('of a project is limited, even if webhooks are created concurrently', async () => {
    const project = await createTestProject(service.services, service.tenant, 'crowded');
    const workflow_id = await publishGraph(service.services, project.contributor, asking());
    const { token } = await createTestPat(service.services, project.contributor, ['webhook:manage']);
    await service.db.pool.query(
      `INSERT INTO webhook_subscriptions (id, tenant_id, project_id, workflow_id, name, enabled, extras, require_timestamp,
         created_by, created_at, updated_at)
       SELECT gen_random_uuid(), 'acme', $1, $2, 'n', true, '{}', false, $1, $4, $4 FROM generate_series(1, $3)`,
      [project.projectId, workflow_id, MAX_WEBHOOKS - 1, new Date(service.clock.now())],
    );
    // Several rounds, because the requests do not overlap in the first: it opens the connections one after the other.
    for (let round = 0; round < 4; round++) {
      const answers = await Promise.all(Array.from({ length: 10 }, () => create({ workflow_id }, token)));
      const made = answers.filter(({ status }) => status === 201);
      expect(made).toHaveLength(1);
      if (round < 3) await service.call(token, 'DELETE', made[0]?.body.ingress_path ?? '');
    }
    expect((await create({ workflow_id }, token)).body).toMatchObject({ code: 'too_many_webhooks' });
  });
});
