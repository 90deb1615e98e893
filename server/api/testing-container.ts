import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Container, type ContainerOptions, createContainer } from '../container.ts';
import { testConfig } from '../domains/identity/testing.ts';
import { createLogger } from '../platform/logger.ts';
import { createTestDatabase, type TestDatabase } from '../platform/postgres/testing.ts';
import { serveSurfaces } from './node-http.ts';

export type TestContainer = { container: Container; db: TestDatabase; url: string; close(): Promise<void> };

/** The whole service but for the console: a real container on a real database behind a real HTTP server. */
export async function startTestContainer(
  env: Record<string, string> = {},
  time: Pick<ContainerOptions, 'clock' | 'alarm'> = {},
): Promise<TestContainer> {
  const db = await createTestDatabase();
  const masterKey = Buffer.alloc(32, 7).toString('base64');
  const config = testConfig({ BATON_MASTER_KEY: masterKey, BATON_RATE_LIMIT_PER_MINUTE: '0', ...env });
  const container = await createContainer({ config, logger: createLogger(config.log.level), database: db, ...time });
  await container.ready;
  const server = createServer((request, response) => {
    if (!serveSurfaces(container, request, response, 0)) response.writeHead(404).end();
  });
  server.on('upgrade', (request, socket, head) => {
    if (!container.stream.upgrade(request, socket, head)) socket.destroy();
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    container,
    db,
    url: `http://127.0.0.1:${port}`,
    async close() {
      server.closeAllConnections();
      await new Promise(resolve => server.close(resolve));
      await container.close();
      await db.close();
    },
  };
}
