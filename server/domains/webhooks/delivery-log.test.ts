import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRequestLimiter } from '../../operation/rate-limits.ts';
import {
  createTestWebhook,
  startWebhookService,
  type TestWebhook,
  type WebhookService,
} from '../../testing/webhooks.ts';
import { kept } from './deliveries-queries.ts';
import { MAX_NOISE_ROWS_PER_MINUTE, recordDelivery, settleDeliveries } from './delivery-log.ts';

let service: WebhookService;
let webhook: TestWebhook;

beforeAll(async () => {
  service = await startWebhookService();
});
afterAll(() => service.close());

type Listed = {
  outcome: string;
  http_status: number;
  run_id: string | null;
  code: string | null;
  message: string | null;
  bytes: number;
};

async function deliveriesOf({ path }: TestWebhook, query = ''): Promise<Listed[]> {
  await settleDeliveries(service.services);
  const { body } = await service.call(service.manager, 'GET', `${path}/deliveries${query}`);
  return body.deliveries as unknown as Listed[];
}

describe('the deliveries', () => {
  test('show the outcome of each, newest first, without its content', async () => {
    webhook = await createTestWebhook(service);
    const headers = { 'Idempotency-Key': 'one' };
    const { body } = await service.deliver(webhook, { headers, body: '{"card":"4111-secret"}' });
    await service.deliver(webhook, { headers, body: '{"card":"4111-secret"}' });
    await service.deliver(webhook, { headers, body: '{}' });
    await service.deliver(webhook, { body: '{' });
    await service.deliver(webhook, { signature: null });
    await service.deliver(webhook, { timestamp: 5 });
    await service.deliver(webhook, { token: null });
    await service.deliver(webhook, { type: 'image/png' });
    const listed = await deliveriesOf(webhook);
    const run_id = body.run_id;
    expect(listed.map(({ outcome, http_status, code, run_id: run }) => [outcome, http_status, code, run])).toEqual([
      ['rejected', 415, 'unsupported_media_type', null],
      ['unauthorized', 401, 'bad_token', null],
      ['unauthorized', 401, 'bad_timestamp', null],
      ['unauthorized', 401, 'bad_signature', null],
      ['rejected', 400, 'malformed_body', null],
      ['rejected', 409, 'idempotency_key_reused', null],
      ['duplicate', 202, null, run_id],
      ['accepted', 202, null, run_id],
    ]);
    expect(listed.at(-1)?.bytes).toBe(22);
    const { rows } = await service.db.pool.query('SELECT * FROM webhook_deliveries');
    const all = JSON.stringify(rows);
    for (const hidden of ['4111', service.token, webhook.secret, 'one']) expect(all).not.toContain(`"${hidden}`);
    expect(all).not.toContain('4111');
  });

  test('are paged by a cursor', async () => {
    const { body } = await service.call(service.manager, 'GET', `${webhook.path}/deliveries?limit=5`);
    const { deliveries, next_cursor } = body as unknown as { deliveries: Listed[]; next_cursor: string };
    const rest = await deliveriesOf(webhook, `?limit=5&cursor=${next_cursor}`);
    expect([deliveries.length, rest.length]).toEqual([5, 3]);
    expect([...deliveries, ...rest]).toEqual(await deliveriesOf(webhook));
    expect((await service.call(service.manager, 'GET', `${webhook.path}/deliveries?cursor=x`)).status).toBe(422);
  });

  test('of an unknown webhook are not recorded', async () => {
    const count = async () => (await service.db.pool.query('SELECT count(*) FROM webhook_deliveries')).rows[0].count;
    const before = await count();
    const path = '/v1/inbound-webhooks/01890000-0000-7000-8000-000000000000';
    await service.deliver({ ...webhook, path });
    await service.deliver({ ...webhook, path }, { type: 'image/png' });
    await settleDeliveries(service.services);
    expect(await count()).toBe(before);
  });
});

describe('a flood', () => {
  const row = { subscriptionId: '', run_id: null, message: null, bytes: 0, duration_ms: 0 };
  const refused = (at: Date) =>
    ({
      ...row,
      subscriptionId: webhook.id,
      outcome: 'unauthorized',
      http_status: 401,
      code: 'bad_signature',
      received_at: at,
    }) as const;
  const accepted = (at: Date) =>
    ({
      ...row,
      subscriptionId: webhook.id,
      outcome: 'accepted',
      http_status: 202,
      code: null,
      received_at: at,
    }) as const;

  test('of refusals is recorded at most ten times a minute, with the number of the others', async () => {
    webhook = await createTestWebhook(service);
    const minute = new Date(Math.floor(service.clock.now() / 60_000) * 60_000);
    for (let at = 0; at < 500; at++) recordDelivery(service.services, refused(minute));
    recordDelivery(service.services, accepted(minute));
    const next = new Date(minute.getTime() + 60_000);
    await settleDeliveries(service.services);
    recordDelivery(service.services, refused(next));
    const listed = await deliveriesOf(webhook);
    expect(listed).toHaveLength(MAX_NOISE_ROWS_PER_MINUTE + 2);
    expect(listed[0]?.message).toBe(`Before it, ${500 - MAX_NOISE_ROWS_PER_MINUTE} more refusals were not recorded.`);
    expect(listed.filter(({ outcome }) => outcome === 'accepted')).toHaveLength(1);
  });

  test('displaces no accepted delivery, and the table stays small', async () => {
    webhook = await createTestWebhook(service);
    const start = service.clock.now();
    for (let at = 0; at < 60; at++) recordDelivery(service.services, accepted(new Date(start)));
    for (let at = 0; at < 400; at++) recordDelivery(service.services, refused(new Date(start + at * 60_000)));
    await settleDeliveries(service.services);
    const count = async () => {
      const { rows } = await service.db.pool.query(
        'SELECT outcome, count(*)::int AS n FROM webhook_deliveries WHERE subscription_id = $1 GROUP BY 1 ORDER BY 1',
        [webhook.id],
      );
      return Object.fromEntries(rows.map(({ outcome, n }) => [outcome, n]));
    };
    expect((await count()).accepted).toBe(60);
    expect((await count()).unauthorized).toBeLessThan(kept.noise + 60);
    for (let at = 0; at < 600; at++) recordDelivery(service.services, accepted(new Date(start)));
    await settleDeliveries(service.services);
    expect((await count()).accepted).toBeGreaterThanOrEqual(kept.rest);
    expect((await count()).accepted).toBeLessThan(kept.rest + 60);
  });
});

describe('requests are counted', () => {
  test('for the webhook if they are authenticated, else for the address', async () => {
    const { clock, services } = service;
    const rateLimiter = createRequestLimiter({ principal: 3, address: 2, signIn: 10, wrongCodes: 0 }, clock);
    const limited = await startWebhookService({ rateLimiter, clock });
    try {
      const [one, two] = [await createWebhook(limited, 'one'), await createWebhook(limited, 'two')];
      clock.advance(60_000 - (clock.now() % 60_000));
      // More than the limit of two for the address, because successful deliveries do not count.
      for (let left = 2; left >= 0; left--) {
        const { status, headers } = await limited.deliver(one);
        expect([status, headers.get('ratelimit-limit'), headers.get('ratelimit-remaining')]).toEqual([
          202,
          '3',
          String(left),
        ]);
      }
      const over = await limited.deliver(one);
      expect([over.status, over.body.code, over.headers.has('retry-after')]).toEqual([429, 'rate_limited', true]);
      expect((await limited.deliver(two)).status).toBe(202);
      const deliverUnsigned = async () => (await limited.deliver(two, { signature: null })).status;
      expect([await deliverUnsigned(), await deliverUnsigned(), await deliverUnsigned()]).toEqual([401, 401, 429]);
      expect((await limited.deliver(two)).status).toBe(429);
      clock.advance(60_000);
      expect((await limited.deliver(two)).status).toBe(202);
      await settleDeliveries(limited.services);
      const { rows } = await limited.db.pool.query(
        "SELECT outcome FROM webhook_deliveries WHERE code = 'rate_limited'",
      );
      expect(rows).toEqual([{ outcome: 'rejected' }]);
      expect(services.pool).not.toBe(limited.services.pool);
    } finally {
      await limited.close();
    }
  });

  /** Creates a webhook and advances the clock by a minute, so that the request does not count against later ones. */
  const createWebhook = async (limited: WebhookService, name: string) => {
    const created = await createTestWebhook(limited, { name });
    limited.clock.advance(60_000);
    return created;
  };
});
