import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { MAX_LOST_ATTEMPTS } from '../../server/orchestrator/core/attempts.ts';
import { createTestDatabase } from '../../server/testing/postgres.ts';
import { Installation, type Service } from '../fixtures/service.ts';
import { Client } from './client.ts';
import { rounds, timeoutFor } from './random.ts';

/** Returns the standby that leads now. */
async function firstReady(standbys: readonly Service[]): Promise<Service> {
  for (const deadline = performance.now() + 20_000; performance.now() < deadline; await delay(100))
    for (const standby of standbys) if ((await standby.readyz()).body.status === 'ready') return standby;
  throw new Error('no standby took over within 20 s');
}

const endless = { steps: [{ id: 'work', type: 'lua_script', script: 'while true do end', timeout_s: 86_400 }] };

test(
  'deployments during a long step begin it again, however many there are',
  async () => {
    await using db = await createTestDatabase();
    await using installation = await Installation.create(
      { DATABASE_URL: db.url, BATON_SHUTDOWN_GRACE_S: '0' },
      { cheapPasswords: true },
    );
    const deployments = MAX_LOST_ATTEMPTS + rounds - 1;
    let leader = await installation.launch();
    await leader.until('ready');
    // The successors start before the step does, because their starts would take its CPU.
    const next = await Promise.all(Array.from({ length: deployments }, () => installation.launch()));
    await Promise.all(next.map(standby => standby.until('standby')));
    const client = new Client(leader.url, installation.pat);
    const workflow = await client.call('POST', '/v1/workflows', { name: 'long', graph: endless });
    const path = `/v1/workflows/${workflow.body.id}`;
    expect((await client.call('POST', `${path}/versions`, { changelog: 'first' })).status).toBe(201);
    const started = await client.call('POST', `${path}/command`, { command: 'start', params: {} });
    expect(started.status).toBe(200);
    const events = async () =>
      (
        await db.pool.query<{ event: string }>(
          `SELECT event_type || coalesce(' ' || attempt, '') AS event FROM run_events WHERE run_id = $1 ORDER BY seq`,
          [started.body.run_id],
        )
      ).rows.map(({ event }) => event);
    for (let attempt = 1; attempt <= deployments; attempt++) {
      await expect.poll(events).toContain(`step_started ${attempt}`);
      expect(await leader.terminate()).toBe(0);
      leader = await firstReady(next);
      next.splice(next.indexOf(leader), 1);
    }
    await expect.poll(events).toContain(`step_started ${deployments + 1}`);
    client.url = leader.url;
    const stop = { command: 'stop', params: { run_id: started.body.run_id, mode: 'immediate' } };
    expect((await client.call('POST', `${path}/command`, stop)).status).toBe(200);
    expect((await events()).filter(event => event.startsWith('step_failed'))).toEqual([]);
  },
  timeoutFor(60_000),
);
