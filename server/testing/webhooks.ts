import { createHmac } from 'node:crypto';
import { operations } from '../api/operations.ts';
import { settleDeliveries } from '../domains/webhooks/delivery-log.ts';
import type { Services } from '../operation/services.ts';
import type { Scope } from '../orchestrator/ports/authority.ts';
import { ManualClock } from '../platform/clock.ts';
import { startTestApi } from './api.ts';
import { createTestPat, createTestTenant, type TestTenant } from './identity.ts';
import { asking, publishGraph, type RunningService, startTestService } from './runs.ts';

/** Returns the signature of a body, as a sender computes it. */
export function sign(secret: string, body: string | Uint8Array, timestamp?: string | number): string {
  const mac = createHmac('sha256', secret);
  if (timestamp !== undefined) mac.update(`${timestamp}.`);
  return `sha256=${mac.update(body).digest('hex')}`;
}

export type Answer = { status: number; headers: Headers; body: Record<string, string> };
export type TestWebhook = { id: string; secret: string; path: string };

/** Starts the API with a running orchestrator, a separate clock, a tenant, a published workflow and a token that may deliver. */
export async function startWebhookService(overrides: Partial<Services> = {}) {
  const running = await startTestService();
  const clock = new ManualClock(Date.now());
  const services: Services = { ...running.services, clock, ...overrides };
  const api = await startTestApi(services, operations);
  const tenant = await createTestTenant(services, { slug: 'acme' });
  const workflow = await publishGraph(services, tenant.owner, asking());
  const token = await tokenOf(services, tenant, ['workflow:run']);
  return {
    ...senderTo(api.url, running, token),
    services,
    clock,
    tenant,
    workflow,
    token,
    manager: await tokenOf(services, tenant, ['webhook:manage', 'workflow:run', 'workflow:write']),
    url: api.url,
    db: running.db,
    async close() {
      await api.close();
      await settleDeliveries(services);
      await running.close();
    },
  };
}
export type WebhookService = Awaited<ReturnType<typeof startWebhookService>>;

export async function tokenOf(services: Services, tenant: TestTenant, scopes: readonly Scope[]): Promise<string> {
  return (await createTestPat(services, tenant.contributor, scopes)).token;
}

type Sent = {
  body?: string | Uint8Array<ArrayBuffer>;
  /** null: not sent. */
  token?: string | null;
  signature?: string | null;
  timestamp?: string | number;
  type?: string | null;
  headers?: Record<string, string>;
};

function senderTo(url: string, { db }: RunningService, defaultToken: string) {
  const readAnswer = async (response: Response): Promise<Answer> => {
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: text === '' ? {} : JSON.parse(text) };
  };
  return {
    /** Calls the API with a token. */
    async call(token: string, method: string, path: string, body?: unknown): Promise<Answer> {
      const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
      return readAnswer(
        await fetch(url + path, { method, headers, body: body === undefined ? null : JSON.stringify(body) }),
      );
    },
    /** Delivers a body with a valid signature, unless `sent` has another. */
    async deliver(webhook: TestWebhook, sent: Sent = {}): Promise<Answer> {
      const { body = '{"n":1}', token = defaultToken, timestamp, type = 'application/json' } = sent;
      const { signature = sign(webhook.secret, body, timestamp) } = sent;
      const headers = {
        ...(token === null ? {} : { Authorization: `Bearer ${token}` }),
        ...(signature === null ? {} : { 'X-Service-Signature': signature }),
        ...(timestamp === undefined ? {} : { 'X-Service-Timestamp': String(timestamp) }),
        ...(type === null ? {} : { 'Content-Type': type }),
        ...sent.headers,
      };
      // Sent as bytes, because fetch adds a content type to a string.
      return readAnswer(
        await fetch(url + webhook.path, { method: 'POST', headers, body: new Uint8Array(Buffer.from(body)) }),
      );
    },
    /** Returns the input of a run. */
    async inputOf(runId: string | undefined): Promise<unknown> {
      const { rows } = await db.pool.query(
        `SELECT data->'input' AS input FROM run_events WHERE run_id = $1 AND event_type = 'run_started'`,
        [runId],
      );
      return rows[0]?.input;
    },
  };
}

/** Creates a webhook through the API. */
export async function createTestWebhook(
  service: WebhookService,
  more: Record<string, unknown> = {},
): Promise<TestWebhook> {
  const { status, body } = await service.call(service.manager, 'POST', '/v1/inbound-webhooks', {
    workflow_id: service.workflow,
    name: 'Orders',
    ...more,
  });
  if (status !== 201) throw new Error(`A webhook could not be created: ${JSON.stringify(body)}`);
  const {
    subscription,
    signing_secret = '',
    ingress_path = '',
  } = body as unknown as Record<string, string> & {
    subscription: { id: string };
  };
  return { id: subscription.id, secret: signing_secret, path: ingress_path };
}
