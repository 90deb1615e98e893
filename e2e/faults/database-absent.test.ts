import { expect, test } from 'vitest';
import { createTestDatabase } from '../../server/testing/postgres.ts';
import { Installation, type Service } from '../fixtures/service.ts';
import { TcpProxy } from '../fixtures/tcp-proxy.ts';

/**
 * Expects a start without its database to fail soon, with one line. Retrying is left to the supervisor of the process (a container
 * orchestrator, systemd), which knows better than the service how often and for how long.
 */
async function expectRefused(service: Service): Promise<void> {
  expect(await service.exited()).toBe(1);
  expect(service.output()).toMatch(/^baton: The database 127\.0\.0\.1:\d+\/\w+ cannot be reached: .+$/m);
  expect(service.output()).not.toMatch(/\n\s+at /);
}

test('a database that refuses connections: the start exits with 1 and says so; the next one, with the database, succeeds', async () => {
  await using db = await createTestDatabase();
  await using proxy = await TcpProxy.start(db.url);
  proxy.refuse();
  await using installation = await Installation.create({ DATABASE_URL: proxy.url }, { cheapPasswords: true });
  await expectRefused(await installation.launch());
  proxy.heal();
  await (await installation.launch()).until('ready');
});

test('a database that accepts but never answers: the service is alive and not ready, and the start fails within seconds', async () => {
  await using db = await createTestDatabase();
  await using proxy = await TcpProxy.start(db.url);
  proxy.blackhole();
  await using installation = await Installation.create({ DATABASE_URL: proxy.url }, { cheapPasswords: true });
  const service = await installation.launch();
  await expect.poll(async () => (await service.readyz()).status).toBe(503);
  expect((await fetch(`${service.url}/healthz`)).status).toBe(200);
  const refused = await fetch(`${service.url}/v1/runs`);
  expect(refused.status).toBe(503);
  expect(Number(refused.headers.get('Retry-After'))).toBeGreaterThan(0);
  // The limit for the connection is 10 s. The earlier part of the start takes as long again on a busy machine.
  const began = performance.now();
  await expectRefused(service);
  expect(performance.now() - began).toBeLessThan(20_000);
});
