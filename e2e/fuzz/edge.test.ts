import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../server/testing/postgres.ts';
import { testSeed } from '../../server/testing/seed.ts';
import { Client } from '../faults/client.ts';
import { Installation, type Service } from '../fixtures/service.ts';
import { batchOf } from './exchange.ts';
import { fuzz } from './fuzz.ts';
import type { World } from './requests.ts';

/** The settings of `npm run fuzz -- --cases N --seed S --first B`; the short form in `npm test` always has the same cases. */
const cases = Number(process.env.BATON_TEST_FUZZ_CASES || 6_000);
const first = Number(process.env.BATON_TEST_FUZZ_FIRST || 0);

/** The permitted growth of the heap: limited caches that fill up, and garbage that is not collected yet. */
const MAX_GROWTH_BYTES = 8 * 1024 * 1024;
/**
 * The maximum CPU time of one turn of the event loop. Other callers wait that long, and CPU time is the same on a busy
 * machine.
 */
const MAX_TURN_MS = 1_000;

vi.setConfig({ testTimeout: 120_000 + 10 * cases });

let db: TestDatabase;
let installation: Installation;
let service: Service;
let world: World;

beforeAll(async () => {
  db = await createTestDatabase();
  installation = await Installation.create({
    DATABASE_URL: db.url,
    BATON_DEMO_MCP: 'true',
    BATON_MCP_GROUPS: 'core,catalog,memory,chat,files,websocket,vault,pat,inbound,llm_keys',
    BATON_MAX_CONNECTIONS_PER_ADDRESS: '0',
    BATON_LOG_LEVEL: 'error',
  });
  service = await installation.launch();
  await service.until('ready');
  world = await prepare();
});
afterAll(async () => {
  await installation[Symbol.asyncDispose]();
  await db.close();
});

/** Creates the workflow, run and webhook to which the requests refer. */
async function prepare(): Promise<World> {
  const client = new Client(service.url, installation.pat);
  const graph = { steps: [{ id: 'a', type: 'lua_script', script: 'return input' }] };
  const workflow = String((await client.call('POST', '/v1/workflows', { name: 'fuzzed', graph })).body.id);
  await client.call('POST', `/v1/workflows/${workflow}/versions`, { changelog: 'first' });
  const start = { command: 'start', params: { n: 1 } };
  const run = String((await client.call('POST', `/v1/workflows/${workflow}/command`, start)).body.run_id);
  const hook = await client.call('POST', '/v1/inbound-webhooks', { workflow_id: workflow, name: 'Fuzzed' });
  expect(client.violations).toEqual([]);
  return {
    token: installation.pat,
    workflow,
    run,
    webhook: new URL(String(hook.body.ingress_url)).pathname.split('/').at(-1) ?? '',
    webhookSecret: String(hook.body.signing_secret),
  };
}

test('a case depends only on seed and number', () => {
  expect(batchOf(7, 3, world)).toEqual(batchOf(7, 3, world));
  expect(batchOf(7, 4, world)).not.toEqual(batchOf(7, 3, world));
});

test(`${cases} cases from seed ${testSeed}: the service stays alive, responsive, and no larger than before`, async () => {
  const report = await fuzz({ service, world, seed: testSeed, cases, first });
  process.stdout.write(`fuzz: ${JSON.stringify(report)}\n`);
  expect(service.alive).toBe(true);
  expect(report.after.turnMs).toBeLessThan(MAX_TURN_MS);
  expect(report.after.sockets).toBeLessThanOrEqual(report.before.sockets + 2);
  expect(report.after.heapBytes - report.before.heapBytes).toBeLessThan(MAX_GROWTH_BYTES);
  expect(await service.terminate()).toBe(0);
});
