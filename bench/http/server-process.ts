import { listen } from '../../server/api/edge.ts';
import { serveSurfaces } from '../../server/api/node-http.ts';
import { seedFirstOwner } from '../../server/domains/identity/bootstrap.ts';
import { readConfig } from '../../server/operation/config.ts';
import { createLogger } from '../../server/platform/logger.ts';
import { openDatabase } from '../../server/platform/postgres/database.ts';
import { createContainer } from '../../server/process/container.ts';
import { monotonicMs, ownCpuSeconds, type ServerRequest, tellParent } from './protocol.ts';

/**
 * The service as server/process/main.ts starts it (port, database, container, first owner), configured by the environment, but without the
 * console: Next answers none of the requests measured here, and its start costs seconds of CPU.
 */
const config = readConfig();
const logger = createLogger(config.log.level);
const database = await openDatabase(config, logger);
const container = await createContainer({ config, logger, database });
await container.ready;
await seedFirstOwner(container.services);
const edge = await listen(
  config.http,
  () => ({
    request: (request, response) =>
      serveSurfaces(container, request, response, config.http.trustedProxies) ?? void response.writeHead(404).end(),
    upgrade: container.stream.upgrade,
  }),
  { ...config.http, logger },
);

// Subscribers are called in the order of subscription, so this first one records when the process learns of a commit, before any frame is
// created.
const stamps = new Map<string, number>();
if (process.env.BENCH_STAMPS === '1') {
  container.services.orchestrator.subscribe({ tenantId: config.identity.tenant }, items => {
    const at = monotonicMs();
    for (const { kind, item } of items) if (kind === 'event') stamps.set(`${item.runId}:${item.seq}`, at);
  });
}

process.on('message', ({ ask }: ServerRequest) => {
  switch (ask) {
    case 'usage':
      return void tellParent({ kind: 'usage', cpuSeconds: ownCpuSeconds(), rss: process.memoryUsage().rss });
    case 'stamps':
      void tellParent({ kind: 'stamps', stamps: [...stamps] });
      return stamps.clear();
    case 'stop':
      return void stop();
  }
});
process.once('disconnect', () => void stop());

async function stop(): Promise<void> {
  await edge.close(0);
  await container.close();
  await database.close();
  process.exit(0); // so that --cpu-prof writes its file
}

await tellParent({ kind: 'listening', url: `http://127.0.0.1:${edge.port}` });
