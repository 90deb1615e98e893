import { expect, test } from 'vitest';
import { createTestDatabase } from '../../server/testing/postgres.ts';
import { Installation, type Service } from '../fixtures/service.ts';
import { timeoutFor } from './random.ts';

/** Waits until the node is ready and reports that it leads or stands by. */
async function waitForState(service: Service, orchestrator: 'leading' | 'standby', members: number): Promise<void> {
  await service.until('ready');
  await expect
    .poll(async () => (await service.readyz()).body, { timeout: 30_000, interval: 50 })
    .toMatchObject({ status: 'ready', orchestrator, members });
}

/** Waits until the node leads. Returns the waiting time in ms. */
async function measureTakeover(service: Service): Promise<number> {
  const began = performance.now();
  await expect
    .poll(async () => (await service.readyz()).body.orchestrator, { timeout: 60_000, interval: 50 })
    .toBe('leading');
  return performance.now() - began;
}

test(
  'a standby node takes over when the leader is killed, frozen or stopped',
  async () => {
    await using db = await createTestDatabase();
    await using installation = await Installation.create({
      DATABASE_URL: db.url,
      BATON_CLUSTER: 'on',
      BATON_SHARDS: '1',
    });
    const first = await installation.launch();
    await waitForState(first, 'leading', 1);
    let second = await installation.launch();
    await waitForState(second, 'standby', 2);
    await waitForState(first, 'leading', 2);

    // A killed node is replaced, and its row is removed.
    await first.kill();
    const takeovers = [await measureTakeover(second)];
    await waitForState(second, 'leading', 1);

    const third = await installation.launch();
    await waitForState(third, 'standby', 2);
    // A frozen node keeps its lock for as long as the server waits for its session.
    second.stall();
    await measureTakeover(third);
    second.wake();
    await waitForState(second, 'standby', 2);
    await waitForState(third, 'leading', 2);
    expect(await third.terminate()).toBe(0);
    takeovers.push(await measureTakeover(second));
    // On a machine that is busy with other tests, one takeover may be slower.
    expect(Math.min(...takeovers)).toBeLessThan(5_000);
    second = await installation.launch();
    await waitForState(second, 'standby', 2);
  },
  timeoutFor(60_000),
);

test(
  'a node exits if its address or public URL conflicts with another node, and logs if its address does not answer',
  async () => {
    await using db = await createTestDatabase();
    await using installation = await Installation.create({
      DATABASE_URL: db.url,
      BATON_CLUSTER: 'on',
      BATON_SHARDS: '1',
    });
    const first = await installation.launch();
    await waitForState(first, 'leading', 1);
    const namesake = await installation.launch(undefined, { BATON_NODE_URL: first.url });
    const stranger = await installation.launch(undefined, { BATON_URL: 'https://baton.example' });
    expect(await stranger.exited()).toBe(1);
    expect(stranger.output()).toContain('they have another BATON_URL. Set the same on every node');
    expect(await namesake.exited()).toBe(1);
    expect(namesake.output()).toContain(`Another node of the cluster is at ${first.url}: set BATON_NODE_URL`);
    expect(first.alive).toBe(true);

    // Nothing listens on port 9.
    const unreachable = await installation.launch(undefined, { BATON_NODE_URL: 'http://127.0.0.1:9' });
    await expect.poll(() => unreachable.lines('the address of this node does not answer'), { timeout: 60_000 }).toBe(1);
    await expect.poll(() => first.lines('the address of another node does not answer'), { timeout: 60_000 }).toBe(1);
    // The node can reach the leader, so it serves.
    await waitForState(unreachable, 'standby', 2);
  },
  timeoutFor(60_000),
);
