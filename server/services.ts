import type { Pool } from 'pg';
import type { Config } from './config.ts';
import type { TopUpTerms } from './domains/billing/plans/plan.ts';
import type { PaymentProvider } from './domains/billing/provider/port.ts';
import type { Orchestrator } from './orchestrator/orchestrator.ts';
import type { StepTypes } from './orchestrator/steps/registry.ts';
import type { Clock } from './platform/clock.ts';
import type { Egress } from './platform/egress/egress.ts';
import type { Logger } from './platform/logger.ts';
import type { Mailer } from './platform/mail/mailer.ts';
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
  /** The only way to an address that a user named. */
  egress: Egress;
  rateLimiter: RateLimiter;
  /** Null: this deployment sends no mail. */
  mail: Mailer | null;
  /** Who is paid through: Stripe where it is configured, else the manual provider. */
  payments: PaymentProvider;
  /** What a top-up may be and what it buys. */
  topUp: TopUpTerms;
};
