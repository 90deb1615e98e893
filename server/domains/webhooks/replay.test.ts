import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { newId } from '../../platform/ids.ts';
import {
  createTestWebhook,
  sign,
  startWebhookService,
  type TestWebhook,
  type WebhookService,
} from '../../testing/webhooks.ts';
import { TIMESTAMP_TOLERANCE_MS } from './signature.ts';
import { claimSignature } from './signature-queries.ts';

let service: WebhookService;
let webhook: TestWebhook;

beforeAll(async () => {
  service = await startWebhookService();
});
afterAll(() => service.close());
beforeEach(async () => {
  webhook = await createTestWebhook(service);
});

const nowS = () => Math.floor(service.clock.now() / 1000);
const send = (key: string | null, more: { timestamp?: number; body?: string; signature?: string } = {}) =>
  service.deliver(webhook, { ...more, ...(key === null ? {} : { headers: { 'Idempotency-Key': key } }) });
const runOf = async (answer: ReturnType<typeof send>) => {
  const { status, body } = await answer;
  expect(status, JSON.stringify(body)).toBe(202);
  return body.run_id;
};
const countSignatures = async () => {
  const { rows } = await service.db.pool.query('SELECT FROM webhook_signatures WHERE subscription_id = $1', [
    webhook.id,
  ]);
  return rows.length;
};

describe('a delivery that was recorded and sent again', () => {
  test('starts no further run with another key, without its key, or with a key that it did not have', async () => {
    for (const first of ['order-1', null]) {
      const timestamp = nowS();
      const run = await send(first, { timestamp });
      for (const key of ['order-2', 'order-1', null, newId()]) {
        const again = await send(key, { timestamp });
        expect([again.status, again.body]).toEqual([202, run.body]);
      }
      service.clock.advance(1_000);
    }
  });

  test('under any number of concurrent keys is one run', async () => {
    const timestamp = nowS();
    const runs = await Promise.all(Array.from({ length: 12 }, (_, n) => runOf(send(`at once ${n}`, { timestamp }))));
    expect(new Set(runs).size).toBe(1);
    const { rows } = await service.db.pool.query('SELECT FROM runs WHERE id = ANY($1::uuid[])', [runs]);
    expect(rows).toHaveLength(1);
  });

  test('in any spelling of its signature', async () => {
    const timestamp = nowS();
    const run = await runOf(send(null, { timestamp }));
    const upper = sign(webhook.secret, '{"n":1}', timestamp).replace(/[a-f](?=[0-9a-f]*$)/g, digit =>
      digit.toUpperCase(),
    );
    expect(await runOf(send(null, { timestamp, signature: upper }))).toBe(run);
  });

  test('for as long as its timestamp is accepted', async () => {
    const timestamp = nowS();
    const run = await runOf(send('a', { timestamp }));
    service.clock.advance(TIMESTAMP_TOLERANCE_MS - 1_000);
    expect(await runOf(send('b', { timestamp }))).toBe(run);
    service.clock.advance(2_000);
    expect((await send('c', { timestamp })).status).toBe(401);
    // Signed with a clock that is ahead, so it is accepted for longer, and its identity is known for longer.
    const ahead = nowS() + TIMESTAMP_TOLERANCE_MS / 1000 - 1;
    const later = await runOf(send('d', { timestamp: ahead }));
    service.clock.advance(2 * TIMESTAMP_TOLERANCE_MS - 2_000);
    expect(await runOf(send('e', { timestamp: ahead }))).toBe(later);
  });

  test('claims no key, so that the delivery to which the key belongs still starts its own run', async () => {
    const timestamp = nowS();
    const run = await runOf(send('order-1', { timestamp }));
    await send('order-2', { timestamp });
    const own = { timestamp, body: '{"n":2}' };
    const second = await runOf(send('order-2', own));
    expect(second).not.toBe(run);
    expect(await runOf(send('order-1', own))).toBe(second);
  });

  test('and signed without a timestamp starts no further run for five minutes, if it had a key', async () => {
    const run = await runOf(send('a'));
    for (const key of ['b', null]) expect(await runOf(send(key))).toBe(run);
    service.clock.advance(TIMESTAMP_TOLERANCE_MS);
    const later = await runOf(send('b'));
    expect(later).not.toBe(run);
    expect(await runOf(send('a'))).toBe(later);
  });
});

describe('deliveries that are not the same', () => {
  test('start a run each: other times, other bodies, other webhooks', async () => {
    const timestamp = nowS();
    const runs = [
      await runOf(send(null, { timestamp })),
      await runOf(send(null, { timestamp: timestamp - 1 })),
      await runOf(send(null, { timestamp, body: '{"n":2}' })),
    ];
    webhook = await createTestWebhook(service);
    runs.push(await runOf(send(null, { timestamp })));
    expect(new Set(runs).size).toBe(4);
  });

  test('with neither timestamp nor key start a run each, as a scheduler sends them', async () => {
    const runs = [await runOf(send(null)), await runOf(send(null))];
    expect(new Set(runs).size).toBe(2);
    expect(await countSignatures()).toBe(0);
  });

  test('but with one key are one run, even if an attacker sends the recorded second one', async () => {
    const timestamp = nowS();
    const run = await runOf(send('order', { timestamp }));
    expect(await runOf(send('order', { timestamp: timestamp - 1 }))).toBe(run);
    expect(await runOf(send('other', { timestamp: timestamp - 1 }))).toBe(run);
  });

  test('with one key and another body are 409, and the second body is not recorded', async () => {
    const timestamp = nowS();
    const run = await runOf(send('order', { timestamp }));
    expect((await send('order', { timestamp, body: '{"n":2}' })).status).toBe(409);
    expect(await runOf(send('another', { timestamp, body: '{"n":2}' }))).not.toBe(run);
  });
});

test('a refused start may be sent again unchanged', async () => {
  const { manager } = service;
  const graph = { steps: [{ id: 'ask', type: 'human_task' }] };
  const { body } = await service.call(manager, 'POST', '/v1/workflows', { name: 'Later', graph });
  webhook = await createTestWebhook(service, { workflow_id: body.id });
  const timestamp = nowS();
  for (const key of [null, 'later']) expect((await send(key, { timestamp })).status).toBe(422);
  await service.call(manager, 'POST', `/v1/workflows/${body.id}/versions`, { changelog: '' });
  const run = await runOf(send('later', { timestamp }));
  expect(await runOf(send(null, { timestamp }))).toBe(run);
});

test('known deliveries are deleted once they expire, and with the webhook', async () => {
  const base = nowS();
  for (let n = 0; n < 30; n++) await send(null, { timestamp: base - n });
  expect(await countSignatures()).toBe(30);
  service.clock.advance(60 * 60_000);
  await send(null, { timestamp: nowS() });
  await send(null, { timestamp: nowS() - 1 });
  expect(await countSignatures()).toBeLessThan(30);
  await service.call(service.manager, 'DELETE', `/v1/inbound-webhooks/${webhook.id}`);
  expect(await countSignatures()).toBe(0);
});

test('a webhook that is deleted during a delivery no longer accepts it', async () => {
  const ref = { webhookId: newId(), signature: Buffer.alloc(32) };
  const claim = claimSignature(service.db.pool, ref, { runId: newId(), expiresAt: 1, now: 0 });
  await expect(claim).rejects.toMatchObject({ status: 401 });
});
