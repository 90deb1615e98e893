import type { Pool } from 'pg';
import type { Rest } from './api/rest.ts';
import type { Stream } from './api/stream.ts';
import type { Trpc } from './api/trpc.ts';
import type { Config } from './config.ts';
import type { ConsoleIdentity } from './domains/identity/console.ts';
import type { Orchestrator } from './orchestrator/orchestrator.ts';
import type { StepTypes } from './orchestrator/steps/registry.ts';
import type { Clock } from './platform/clock.ts';
import type { Logger } from './platform/logger.ts';
import type { Database } from './platform/postgres/database.ts';
import type { PrismaClient } from './platform/postgres/generated/client.ts';
import type { RateLimiter } from './platform/rate-limit.ts';
import type { SecretStore } from './platform/secrets/secret-store.ts';

/** Everything use cases may reach. Constructed in one place and passed in; nothing is a module-level singleton. */
export type Services = {
  config: Config;
  clock: Clock;
  logger: Logger;
  /** SQL for the run log, projections and feeds. */
  pool: Pool;
  /** Prisma for everything else. Uses the same pool. */
  prisma: PrismaClient;
  orchestrator: Orchestrator;
  stepTypes: StepTypes;
  secrets: SecretStore;
  rateLimiter: RateLimiter;
};

/** The running service, as surfaces and the process see it. */
export type Container = {
  services: Services;
  /** The REST surface for a fetch handler; `address` is the client's, for the rate limiter. */
  handle(request: Request, client: { address: string }): Promise<Response>;
  /** The REST surface on plain data: what the process's own HTTP server uses. */
  rest: Rest;
  trpc: Trpc;
  stream: Stream;
  /** What the console's sign-in needs. */
  identity: ConsoleIdentity;
  /** Closes sockets, lets steps in flight finish, writes what is pending. The database stays open: it is not ours. */
  close(): Promise<void>;
};

export type ContainerOptions = {
  config: Config;
  logger: Logger;
  database: Pick<Database, 'url' | 'pool' | 'prisma'>;
  clock?: Clock;
};
