import type { Pool } from 'pg';
import type { Cluster } from '../orchestrator/ports/cluster.ts';
import type { LiveText } from '../orchestrator/ports/live-text.ts';
import type { Orchestrator } from '../orchestrator/ports/orchestrator.ts';
import type { StepTypes } from '../orchestrator/ports/step-type.ts';
import type { Clock } from '../platform/clock.ts';
import type { Egress } from '../platform/egress/egress.ts';
import type { LineageSeal } from '../platform/lineage.ts';
import type { Logger } from '../platform/logger.ts';
import type { Mailer } from '../platform/mail/mailer.ts';
import type { PrismaClient } from '../platform/postgres/generated/client.ts';
import type { ReplicationWatch } from '../platform/postgres/replication.ts';
import type { RequestTurns } from '../platform/request-turns.ts';
import type { SecretStore } from '../platform/secrets/secret-store.ts';
import type { Config } from './config.ts';
import type { Embed } from './embed.ts';
import type { PaymentProvider } from './payment-provider.ts';
import type { TopUpTerms } from './plan.ts';
import type { RequestLimiter } from './rate-limits.ts';

/**
 * Everything that use cases may access. server/process/container.ts constructs it and passes it in. Modules that
 * keep state for a service, such as a cache per pool, do so in a WeakMap under that service: two containers
 * in a process share nothing.
 */
export type Services = {
  config: Config;
  clock: Clock;
  logger: Logger;
  /** SQL: the run log, projections, and stores that need it (docs/adr/0016-prisma-for-what-people-administer.md). */
  pool: Pool;
  /** Prisma's client for what people administer. Uses the same pool. */
  prisma: PrismaClient;
  orchestrator: Orchestrator;
  /** Null: no cluster. */
  cluster: Cluster | null;
  stepTypes: StepTypes;
  secrets: SecretStore;
  /** The only way to call an address that a user gave. */
  egress: Egress;
  /** Reads the header that names the run of a step's request to this service. */
  lineage: LineageSeal;
  /** The embedding models of workspaces, by their own keys. */
  embed: Embed;
  /** The text that models are writing now in attempts of this process. */
  liveText: LiveText;
  rateLimiter: RequestLimiter;
  /** Requests of tenants take turns. */
  requestTurns: RequestTurns;
  /** Null: this deployment sends no mail. */
  mail: Mailer | null;
  /** The payment provider: Stripe if it is configured, otherwise manual payments. */
  payments: PaymentProvider;
  /** The limits of a top-up, and the credits that it buys. */
  topUp: TopUpTerms;
  /** How the database replicates; absent or null for the embedded one, which does not. */
  replication?: Pick<ReplicationWatch, 'state'> | null;
};
