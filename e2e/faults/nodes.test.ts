import { expect, test } from 'vitest';
import { createTestDatabase } from '../../server/testing/postgres.ts';
import { Installation, type Service } from '../fixtures/service.ts';
import { timeoutFor } from './random.ts';

/** Waits until the node says of itself that it leads, or stands by; both are ready. */
async function untilState(service: Service, orchestrator: 'leading' | 'standby', members: number): Promise<void> {
  await service.until('ready');
  await expect
    .poll(async () => (await service.readyz()).body, { timeout: 30_000, interval: 50 })
    .toMatchObject({ status: 'ready', orchestrator, members });
}

/** Measures how long it takes until the node leads, in ms. */
async function untilLeading(service: Service): Promise<number> {
  const began = performance.now();
  await expect
    .poll(async () => (await service.readyz()).body.orchestrator, { timeout: 60_000, interval: 50 })
    .toBe('leading');
  return performance.now() - began;
}

test(
  'of two nodes one leads and both are ready; the other leads when it is killed, or frozen until it wakes',
  async () => {
    await using db = await createTestDatabase();
    await using installation = await Installation.create({ DATABASE_URL: db.url, BATON_CLUSTER: 'on', BATON_SHARDS: '1' });
    const first = await installation.launch();
    await untilState(first, 'leading', 1);
    let second = await installation.launch();
    await untilState(second, 'standby', 2);
    await untilState(first, 'leading', 2);

    // A node that was killed is replaced; its row goes with it.
    await first.kill();
    const takeovers = [await untilLeading(second)];
    await untilState(second, 'leading', 1);

    const third = await installation.launch();
    await untilState(third, 'standby', 2);
    // A frozen node keeps its lock for as long as the server waits for its session.
    second.stall();
    await untilLeading(third);
    second.wake();
    await untilState(second, 'standby', 2);
    await untilState(third, 'leading', 2);
    expect(await third.terminate()).toBe(0);
    takeovers.push(await untilLeading(second));
    // On a machine that is busy with other tests, one of them may be later.
    expect(Math.min(...takeovers)).toBeLessThan(5_000);
    second = await installation.launch();
    await untilState(second, 'standby', 2);
  },
  timeoutFor(60_000),
);

test(
  'a node is refused at the address of another, or with another public URL, and says of an address that does not answer what to set',
  async () => {
    await using db = await createTestDatabase();
    await using installation = await Installation.create({ DATABASE_URL: db.url, BATON_CLUSTER: 'on', BATON_SHARDS: '1' });
    const first = await installation.launch();
    await untilState(first, 'leading', 1);
    const namesake = await installation.launch(undefined, { BATON_NODE_URL: first.url });
    const stranger = await installation.launch(undefined, { BATON_URL: 'https://baton.example' });
    expect(await stranger.exited()).toBe(1);
    expect(stranger.output()).toContain('they have another BATON_URL. Set the same on every node');
    expect(await namesake.exited()).toBe(1);
    expect(namesake.output()).toContain(`Another node of the cluster is at ${first.url}: set BATON_NODE_URL`);
    expect(first.alive).toBe(true);

    // Port 9 of this machine: nobody answers there.
    const lost = await installation.launch(undefined, { BATON_NODE_URL: 'http://127.0.0.1:9' });
    await expect.poll(() => lost.lines('the address of this node does not answer'), { timeout: 60_000 }).toBe(1);
    await expect.poll(() => first.lines('the address of another node does not answer'), { timeout: 60_000 }).toBe(1);
    // It reaches the leader, and so it can serve.
    await untilState(lost, 'standby', 2);
  },
  timeoutFor(60_000),
);
