import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  createTestWebhook,
  sign,
  startWebhookService,
  type TestWebhook,
  tokenOf,
  type WebhookService,
} from './testing.ts';

let service: WebhookService;
let webhook: TestWebhook;

beforeAll(async () => {
  service = await startWebhookService();
  webhook = await createTestWebhook(service);
});
afterAll(() => service.close());

describe('a delivery', () => {
  test('starts a run whose input is what was posted', async () => {
    const { status, body } = await service.deliver(webhook, { body: '{"order": 7}' });
    expect([status, body]).toEqual([
      202,
      {
        run_id: expect.any(String),
        status: 'running',
        workflow_id: service.workflow,
        started_at: expect.stringMatching(/^\d{4}-.*Z$/),
      },
    ]);
    expect(await service.inputOf(body.run_id)).toEqual({ order: 7 });
  });
});
