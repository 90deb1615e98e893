import { type Frontend, listen } from '../api/edge.ts';
import { createFrontend } from '../api/frontend.ts';
import { createLogger } from '../platform/logger.ts';
import { type Container, type ContainerOptions, createContainer } from '../process/container.ts';
import { testConfig } from './identity.ts';
import { createTestDatabase, type TestDatabase } from './postgres.ts';

export type TestContainer = { container: Container; db: TestDatabase; url: string; close(): Promise<void> };

/** Replaces Next, which serves the console. */
const noConsole: Frontend = {
  request: (_, response) => void response.writeHead(404).end(),
  upgrade: () => false,
};

/** Starts the whole service except the console: a real container on a real database behind a real HTTP server. */
export async function startTestContainer(
  env: Record<string, string> = {},
  given: Partial<Pick<ContainerOptions, 'clock' | 'alarm' | 'logger'>> = {},
): Promise<TestContainer> {
  const db = await createTestDatabase();
  const masterKey = Buffer.alloc(32, 7).toString('base64');
  const config = testConfig({ BATON_MASTER_KEY: masterKey, BATON_RATE_LIMIT_PER_MINUTE: '0', ...env });
  const logger = createLogger(config.log.level);
  const container = await createContainer({ config, logger, database: db, ...given });
  await container.ready;
  const frontend = createFrontend(config, container, noConsole);
  const edge = await listen({ host: '127.0.0.1', port: 0 }, () => frontend, {
    ...config.http,
    logger: container.services.logger,
  });
  return {
    container,
    db,
    url: `http://127.0.0.1:${edge.port}`,
    async close() {
      await edge.close(0);
      await container.close();
      await db.close();
    },
  };
}
