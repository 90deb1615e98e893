import { expect, test } from 'vitest';
import { createTestDatabase } from '../../server/testing/postgres.ts';
import { rounds, timeoutFor } from '../faults/random.ts';
import { Scenario } from '../faults/scenario.ts';
import type { Service } from '../fixtures/service.ts';

const ENV = { BATON_CLUSTER: 'on', BATON_SHARDS: '8' };

/** Waits until each of the nodes leads some of the shards. */
async function untilAllLead(nodes: readonly Service[]): Promise<void> {
  for (const node of nodes)
    await expect
      .poll(async () => (await node.readyz()).body, { timeout: 60_000, interval: 50 })
      .toMatchObject({ status: 'ready', orchestrator: 'leading', members: nodes.length });
}

test(
  'three nodes lead under load: killed, frozen, stopped and joining at random, they lose nothing and do nothing twice',
  async () => {
    await using db = await createTestDatabase();
    await using scenario = await Scenario.open('several leaders', { databaseUrl: db.url, env: ENV });
    scenario.client.mayDisconnect = true;
    const { installation, random } = scenario;
    // While shards move to the nodes that join, some starts are refused for a moment.
    const load = await scenario.load();
    const nodes = [scenario.service, await installation.launch(), await installation.launch()];
    await untilAllLead(nodes);
    for (let round = 0; round < 4 * rounds; round++) {
      await load.progress(random.between(5, 20));
      const at = random.between(0, nodes.length - 1);
      const node = nodes[at];
      if (node === undefined) throw new Error('no node');
      const kind = round % 3;
      if (kind === 0) await node.kill();
      else if (kind === 1) expect(await node.terminate()).toBe(0);
      else {
        node.stall();
        await scenario.moment(4_000);
        node.wake();
      }
      const next = kind === 2 ? node : await installation.launch();
      nodes[at] = next;
      const entry = nodes[(at + 1) % nodes.length];
      if (entry !== undefined) scenario.serve(entry);
      await load.progress(5);
      await untilAllLead(nodes);
    }
    await scenario.settle(load);
    for (const node of nodes) expect(node.alive).toBe(true);
  },
  timeoutFor(90_000),
);
