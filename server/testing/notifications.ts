import type { z } from 'zod';
import { deliverDue } from '../domains/notifications/deliver.ts';
import { enqueueNext } from '../domains/notifications/enqueue.ts';
import { notificationOperations } from '../domains/notifications/operations.ts';
import type { ListDeliveriesOutput, PatchPreferencesOutput } from '../domains/notifications/schemas.ts';
import { runOperations } from '../domains/runs/operations.ts';
import { taskOperations } from '../domains/tasks/operations.ts';
import type { Principal } from '../operation/context.ts';
import type { Services } from '../operation/services.ts';
import type { Graph } from '../orchestrator/core/index.ts';
import { ManualClock } from '../platform/clock.ts';
import { createCall } from './call.ts';
import { type SeenRequest, startHttpServer } from './http-server.ts';
import { createTestTenant } from './identity.ts';
import { startTestMailServer } from './mail.ts';
import { asking, publishGraph, reached, startTestService } from './runs.ts';

export type NotificationWorld = Awaited<ReturnType<typeof startNotificationWorld>>;
type Ref = { id: string; runID: string };
type Deliveries = z.output<typeof ListDeliveriesOutput>['deliveries'];

/** The graph of a run that fails. */
export const failing: Graph = { steps: [{ id: 'fail', type: 'lua_script', script: 'error("no")', depends_on: [] }] };

/**
 * Creates a workspace with an orchestrator, a mail server, a receiver of webhooks that answers with `receiver.status`,
 * and a clock for notifications that only the test moves.
 */
export async function startNotificationWorld(settings: Record<string, string> = {}) {
  const mail = await startTestMailServer();
  const receiver = { status: 200 };
  const server = await startHttpServer({
    '/hook': (_, response) => void response.writeHead(receiver.status).end('ok'),
    '/moved': (_, response) => void response.writeHead(307, { location: '/hook' }).end(),
  });
  const running = await startTestService({
    BATON_SMTP_URL: mail.url,
    BATON_MAIL_FROM: 'Baton <baton@example.com>',
    BATON_URL: 'https://baton.example.com',
    BATON_ALLOW_PRIVATE_NETWORK: '127.0.0.1/32',
    ...settings,
  });
  const clock = new ManualClock(Date.now());
  const services: Services = { ...running.services, clock };
  const tenant = await createTestTenant(services, { slug: 'acme' });
  const call = createCall(services, [...notificationOperations, ...runOperations, ...taskOperations]);
  const patch = async (who: Principal, change: object) =>
    (await call(who, 'me_notifications_patch', change)) as z.output<typeof PatchPreferencesOutput>;
  return {
    db: running.db,
    services,
    clock,
    tenant,
    call,
    patch,
    mail,
    receiver,
    url: `${server.url}/hook`,
    /** Returns the deliveries that the receiver got, parsed. */
    received: () => server.seen.map(seen => ({ ...seen, json: JSON.parse(seen.body) as ReceivedBody })),
    /** Sets up a webhook of a person for these kinds, and returns its signing secret. */
    async hook(who: Principal, ...webhook: string[]): Promise<string> {
      const { webhook_secret: secret = '' } = await patch(who, { webhook_url: `${server.url}/hook`, webhook });
      return secret;
    },
    /** Starts a run of a workflow and waits until it waits for a person, or has ended. */
    async start(id: string, ...phases: ('blocked' | 'complete')[]): Promise<Ref> {
      const { run_id: runID } = (await call(tenant.owner, 'workflows_execute_command', {
        id,
        command: 'start',
      })) as { run_id: string };
      await reached(services, tenant.owner, { id, runID }, ...phases);
      return { id, runID };
    },
    /** Starts a run that waits at the step `ask`. */
    async ask(step: Record<string, unknown> = {}): Promise<Ref> {
      return this.start(await publishGraph(services, tenant.owner, asking(step)), 'blocked');
    },
    /** Runs one pass of the job. Returns how many deliveries were attempted. */
    async pass(): Promise<number> {
      while (await enqueueNext(services));
      return deliverDue(services);
    },
    deliveriesOf: async (who: Principal) =>
      ((await call(who, 'me_notifications_deliveries_list')) as { deliveries: Deliveries }).deliveries,
    async close() {
      services.mail?.close();
      await running.close();
      await server.close();
      await mail[Symbol.asyncDispose]();
    },
  };
}

export type ReceivedBody = { text: string; notifications: Record<string, string | null>[] };
export type Received = SeenRequest & { json: ReceivedBody };
