import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newId } from '../../platform/ids.ts';
import { asking, publishGraph } from '../../testing/runs.ts';
import { createTestWebhook, startWebhookService, type WebhookService } from '../../testing/webhooks.ts';
import { luaStep as lua } from '../../testing/workflows.ts';
import { runEndsOf } from '../runs/waiting/run-ends.ts';
import { settleDeliveries } from './delivery-log.ts';

let service: WebhookService;

beforeAll(async () => {
  service = await startWebhookService();
});
afterAll(() => service.close());

const extras = { respond: 'output' };
const published = (...steps: ReturnType<typeof lua>[]) =>
  publishGraph(service.services, service.tenant.owner, { steps });
const deliveriesOf = async ({ path }: { path: string }) => {
  await settleDeliveries(service.services);
  return (await service.call(service.manager, 'GET', `${path}/deliveries`)).body.deliveries;
};

describe('a webhook that answers with the output', () => {
  test('is 200 with the output of a completed run, also when the delivery is repeated', async () => {
    const workflow_id = await published(lua('a', 'return input.n'), lua('b', 'return {sum = steps.a.result + 1}', 'a'));
    const webhook = await createTestWebhook(service, { workflow_id, extras });
    const sent = { body: '{"n": 41}', headers: { 'Idempotency-Key': newId() } };
    const { status, body } = await service.deliver(webhook, sent);
    expect([status, body]).toMatchObject([200, { status: 'completed', output: { sum: 42 }, error: null, workflow_id }]);
    const again = await service.deliver(webhook, sent);
    expect([again.status, again.body]).toEqual([200, body]);
    expect(await deliveriesOf(webhook)).toMatchObject([
      { outcome: 'duplicate', http_status: 200, run_id: body.run_id },
      { outcome: 'accepted', http_status: 200, run_id: body.run_id },
    ]);
    expect(runEndsOf(service.services).reserved).toBe(0);
  });

  test('is 200 with the error of a failed run', async () => {
    const webhook = await createTestWebhook(service, { workflow_id: await published(lua('a', 'error("no")')), extras });
    const { status, body } = await service.deliver(webhook);
    expect([status, body]).toMatchObject([200, { status: 'failed', output: null, error: { step_id: 'a' } }]);
  });

  test('is 202 if the process stops before the run has ended, and starts nothing beyond the limit', async () => {
    const workflow_id = await publishGraph(service.services, service.tenant.owner, asking());
    const webhook = await createTestWebhook(service, { workflow_id, extras });
    const ends = runEndsOf(service.services);
    const waiting = service.deliver(webhook);
    await expect.poll(() => ends.reserved).toBe(1);
    const runs = async () =>
      (await service.db.pool.query('SELECT FROM runs WHERE workflow_id = $1', [workflow_id])).rowCount;
    await expect.poll(runs).toBe(1);
    const { maxWaitingPerTenant } = service.services.config.http;
    const taken = Array.from({ length: maxWaitingPerTenant - 1 }, () => ends.reserve(service.tenant.tenantId));
    const refused = await service.deliver(webhook);
    expect([refused.status, refused.body.code]).toEqual([429, 'too_many_waiting']);
    expect(await runs()).toBe(1);
    for (const release of taken) release();
    ends.close();
    const { status, body } = await waiting;
    expect([status, body.status]).toEqual([202, 'running']);
    expect(body).not.toHaveProperty('output');
  });

  test('has no other answer', async () => {
    const more = { workflow_id: service.workflow, name: 'x', extras: { respond: 'soon' } };
    const { status, body } = await service.call(service.manager, 'POST', '/v1/inbound-webhooks', more);
    expect([status, body.details]).toMatchObject([422, [{ path: 'extras.respond' }]]);
  });
});
