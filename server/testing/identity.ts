import { readCatalog } from '../domains/billing/plans/catalog.ts';
import { createManualProvider } from '../domains/billing/provider/manual.ts';
import { addMember, createTenant, createUser } from '../domains/identity/account-store.ts';
import { generatePatToken, patHash } from '../domains/identity/pats/token.ts';
import { createEmbed } from '../domains/models/embed.ts';
import { type Config, readConfig } from '../operation/config.ts';
import type { Context, Principal } from '../operation/context.ts';
import type { RequestLimiter } from '../operation/rate-limits.ts';
import type { Services } from '../operation/services.ts';
import type { Role, Scope } from '../orchestrator/ports/authority.ts';
import type { Orchestrator } from '../orchestrator/ports/orchestrator.ts';
import { createLiveText } from '../orchestrator/runtime/live-text.ts';
import { systemAlarm, systemClock } from '../platform/clock.ts';
import { hashPassword } from '../platform/crypto/password.ts';
import { createEgress } from '../platform/egress/egress.ts';
import { newId } from '../platform/ids.ts';
import { createLineageSeal } from '../platform/lineage.ts';
import { createLogger } from '../platform/logger.ts';
import { createMailer } from '../platform/mail/mailer.ts';
import { RequestTurns } from '../platform/request-turns.ts';
import { DatabaseSecretStore } from '../platform/secrets/database-secret-store.ts';
import type { TestDatabase } from './postgres.ts';

/** Returns the configuration of a fresh clone that sells credits, with the variables of `env`. */
export function testConfig(env: Record<string, string> = {}): Config {
  return readConfig({
    NODE_ENV: 'test',
    BATON_LOG_LEVEL: 'silent',
    BATON_SEED: 'none',
    BATON_BILLING: 'on',
    ...env,
  });
}

const noOrchestrator = (): never => {
  throw new Error('These test services have no orchestrator; pass one as an override.');
};
const absentOrchestrator: Orchestrator = {
  start: noOrchestrator,
  reject: noOrchestrator,
  command: noOrchestrator,
  completeTask: noOrchestrator,
  subscribe: noOrchestrator,
  status: () => 'stopped',
  leads: () => false,
  ownerOf: () => ({ kind: 'unknown' }),
  leadsJobs: () => false,
  shards: () => ({ count: 1, led: new Set() }),
  unavailableReason: () => null,
  creditsChanged: () => undefined,
};
const unlimited: RequestLimiter = {
  take: async () => ({ limit: 0, remaining: 0, resetSeconds: 0, allowed: true }),
  refund: async () => undefined,
};

/** Services over a test database: real database and secret store, no rate limit, no step types, no orchestrator. */
export function createTestServices(
  db: Pick<TestDatabase, 'pool' | 'prisma'>,
  overrides: Partial<Services> = {},
): Services {
  const clock = overrides.clock ?? systemClock;
  const config = overrides.config ?? testConfig();
  const { pool, prisma } = db;
  const secrets = new DatabaseSecretStore({ pool, clock, masterKey: Buffer.alloc(32, 7) });
  const egress = createEgress({ allowPrivate: config.egress.allowPrivate });
  return {
    config,
    clock,
    logger: createLogger('silent'),
    pool,
    prisma,
    orchestrator: absentOrchestrator,
    cluster: null,
    stepTypes: new Map(),
    secrets,
    egress,
    lineage: createLineageSeal(Buffer.alloc(32, 7)),
    liveText: createLiveText(),
    embed: createEmbed({ config, pool, prisma, secrets, clock, egress }),
    rateLimiter: unlimited,
    requestTurns: new RequestTurns({ clock, alarm: systemAlarm }),
    mail: config.mail && createMailer(config.mail),
    payments: createManualProvider({ clock }),
    topUp: readCatalog(config.billing).topUp,
    ...overrides,
  };
}

export const testPassword = 'correct horse battery staple';
// Real hashes take 100 ms each. The parameters are part of the hash, so a test user may have a cheap one.
const cheapHash = hashPassword(testPassword, { log2N: 4, r: 8, p: 1 });

/** Adds a user with `testPassword` to a tenant and returns the principal of a session. */
export async function createTestMember(
  services: Services,
  tenant: { tenantId: string; projectId: string },
  role: Role,
  email: string,
): Promise<Principal> {
  const at = new Date(services.clock.now());
  const name = email.split('@')[0] ?? email;
  const user = { email, name, passwordHash: await cheapHash };
  const userId = await createUser(services.prisma, user, at, { confirmed: true });
  const tenantAdmin = role === 'tenant_admin';
  const projectRole = role === 'tenant_admin' ? 'project_contributor' : role;
  await addMember(services.prisma, { ...tenant, userId, tenantAdmin, role: projectRole }, at);
  return { userId, email, name, ...tenant, role, credential: { kind: 'session' } };
}

export type TestTenant = {
  tenantId: string;
  projectId: string;
  owner: Principal;
  contributor: Principal;
  viewer: Principal;
};

/**
 * Creates a tenant with the project `default` and one user for each role; their emails are `<role>@<slug>.example.com`.
 */
export async function createTestTenant(services: Services, { slug }: { slug: string }): Promise<TestTenant> {
  const projectId = await createTenant(services.prisma, slug, new Date(services.clock.now()));
  const tenant = { tenantId: slug, projectId };
  return {
    ...tenant,
    owner: await createTestMember(services, tenant, 'tenant_admin', `owner@${slug}.example.com`),
    contributor: await createTestMember(services, tenant, 'project_contributor', `contributor@${slug}.example.com`),
    viewer: await createTestMember(services, tenant, 'project_viewer', `viewer@${slug}.example.com`),
  };
}

/** Creates a personal access token of a user, with exactly these scopes. */
export async function createTestPat(
  services: Services,
  principal: Principal,
  scopes: readonly Scope[],
): Promise<{ token: string; principal: Principal }> {
  const token = generatePatToken();
  const { tenantId, projectId, userId } = principal;
  const pat = await services.prisma.pat.create({
    data: {
      id: newId(),
      tenantId,
      projectId,
      userId,
      displayName: 'test',
      tokenHash: new Uint8Array(patHash(token)),
      scopes: [...scopes],
      createdAt: new Date(services.clock.now()),
    },
  });
  return { token, principal: { ...principal, credential: { kind: 'pat', patId: pat.id, scopes } } };
}

/** Returns the principal of a token with exactly these scopes, which is not stored. */
export function withScopes(principal: Principal, ...scopes: Scope[]): Principal {
  return { ...principal, credential: { kind: 'pat', patId: newId(), scopes } };
}

/** Returns the context of a use case that `principal` calls over REST. */
export function contextFor(services: Services, principal: Principal, overrides: Partial<Context> = {}): Context {
  return {
    principal,
    services,
    requestId: newId(),
    surface: 'rest',
    headers: new Map(),
    responseHeaders: new Map(),
    ...overrides,
  };
}
