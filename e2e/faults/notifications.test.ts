import { expect, test } from 'vitest';
import { startHttpServer } from '../../server/testing/http-server.ts';
import { createTestDatabase } from '../../server/testing/postgres.ts';
import { Installation } from '../fixtures/service.ts';
import { Client } from './client.ts';
import { timeoutFor } from './random.ts';

type Body = { notifications: { run_id: string }[] };

/** A receiver that counts deliveries by run. `hold` makes it leave requests unanswered. */
async function startReceiver() {
  const received = new Map<string, number>();
  let hold: PromiseWithResolvers<void> | null = null;
  const server = await startHttpServer({
    '/hook': ({ body }, response) => {
      for (const { run_id } of (JSON.parse(body) as Body).notifications) {
        received.set(run_id, (received.get(run_id) ?? 0) + 1);
      }
      if (hold === null) response.writeHead(200).end();
      else hold.resolve();
    },
  });
  return {
    received,
    url: `${server.url}/hook`,
    /** Resolves when a request has arrived and stays unanswered. */
    hold() {
      hold = Promise.withResolvers<void>();
      return hold.promise;
    },
    release() {
      hold = null;
    },
    close: () => server.close(),
  };
}

test(
  'SIGKILL while notifications are written and sent: none is lost, and only interrupted attempts are repeated',
  async () => {
    await using db = await createTestDatabase();
    const receiver = await startReceiver();
    await using installation = await Installation.create(
      {
        DATABASE_URL: db.url,
        BATON_ALLOW_PRIVATE_NETWORK: '127.0.0.1/32',
      },
      { cheapPasswords: true },
    );
    let service = await installation.launch();
    await service.until('ready');
    const client = new Client(service.url, installation.pat);
    await client.call('PATCH', '/v1/me/notifications', { webhook_url: receiver.url, webhook: ['task_waiting'] });
    const graph = { steps: [{ id: 'ask', type: 'human_task' }] };
    const { id } = (await client.call('POST', '/v1/workflows', { name: 'Asks', graph })).body;
    await client.call('POST', `/v1/workflows/${id}/versions`, { changelog: 'first' });
    const runs: string[] = [];
    const start = async (count: number) => {
      const command = { command: 'start' };
      const starts = Array.from({ length: count }, () => client.call('POST', `/v1/workflows/${id}/command`, command));
      for (const { status, body } of await Promise.all(starts)) {
        expect(status).toBe(200);
        runs.push(String(body.run_id));
      }
    };
    const killAndRelaunch = async () => {
      await service.kill();
      service = await installation.launch();
      client.url = service.url;
      await service.until('ready');
      // Skips the minute after which an interrupted attempt is repeated. The sessions of the dead
      // process have ended by now.
      await db.pool.query(`UPDATE notification_deliveries SET next_attempt_at = created_at WHERE state = 'pending'`);
    };
    const missing = () => runs.filter(run => !receiver.received.has(run));

    // The first kill comes before or while the deliveries are written.
    await start(10);
    await killAndRelaunch();
    await expect.poll(missing).toEqual([]);
    // The second kill comes while the deliveries are sent.
    const isHeld = receiver.hold();
    await start(10);
    await isHeld;
    await service.kill();
    receiver.release();
    await killAndRelaunch();
    await expect.poll(missing).toEqual([]);

    const deliveries = async () =>
      (
        await db.pool.query<{ run_id: string; state: string; attempts: number }>(
          'SELECT * FROM notification_deliveries',
        )
      ).rows;
    await expect.poll(async () => (await deliveries()).filter(({ state }) => state !== 'delivered')).toEqual([]);
    const found = await deliveries();
    expect(found.map(({ run_id }) => run_id).sort()).toEqual(runs.toSorted());
    for (const { run_id, attempts } of found) {
      expect(receiver.received.get(run_id)).toBeLessThanOrEqual(attempts);
      expect(attempts).toBeLessThanOrEqual(2);
    }
    expect(client.violations).toEqual([]);
    await receiver.close();
  },
  timeoutFor(20_000),
);
