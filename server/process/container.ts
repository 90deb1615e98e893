import { createDemoApi, type DemoApi } from '../api/demo-api/demo-api.ts';
import { createDemoMcp, type DemoMcp } from '../api/demo-mcp/demo-server.ts';
import type { ForwardSeal } from '../api/forward/signature.ts';
import { createMcp, type McpSurface } from '../api/mcp/surface.ts';
import { createMetrics } from '../api/metrics.ts';
import { OpenStreams } from '../api/open-streams.ts';
import { operations } from '../api/operations.ts';
import { createPages } from '../api/pages.ts';
import { createPlatformTools } from '../api/platform-tools.ts';
import { createRegistry } from '../api/registry.ts';
import { fromFetch, toFetch } from '../api/request.ts';
import { createRest, type Rest } from '../api/rest.ts';
import type { StaticAssets } from '../api/static-assets.ts';
import { createStream, type Stream } from '../api/stream.ts';
import { createTrpc, type Trpc } from '../api/trpc.ts';
import { createApprovalSettings } from '../domains/agents/approval-settings.ts';
import { createRunAuthority } from '../domains/agents/authority.ts';
import { createAgentGrants } from '../domains/agents/grants/granted.ts';
import { createAgentSource } from '../domains/agents/source.ts';
import { startAnalyticsJob } from '../domains/analytics/job.ts';
import { settleAudit } from '../domains/audit/record.ts';
import { BRIEF } from '../domains/autopilot/agent/brief.ts';
import { createCreditSource } from '../domains/billing/credits/credit-source.ts';
import { startBillingJob } from '../domains/billing/due/job.ts';
import { startCountJob } from '../domains/billing/ledger/count-job.ts';
import { readCatalog } from '../domains/billing/plans/catalog.ts';
import { seedPlans } from '../domains/billing/plans/store.ts';
import { openProvider } from '../domains/billing/provider/open.ts';
import { startReconciliationJob } from '../domains/billing/provider-events/job.ts';
import { awaitPendingAnswers } from '../domains/chat/answers/process.ts';
import { createSpendingSource } from '../domains/chat/budget.ts';
import { startChatJob } from '../domains/chat/job.ts';
import { createConversations } from '../domains/chat/messages/history.ts';
import { removeAbandonedConnections } from '../domains/connections/remove-abandoned.ts';
import { startFailureHandlerJob } from '../domains/failure-handlers/job.ts';
import { createHttpRequester } from '../domains/http-requests/requester.ts';
import { settleMails } from '../domains/identity/account-mail.ts';
import type { ConsoleIdentity } from '../domains/identity/console.ts';
import { type IdentityKeys, loadIdentityKeys, openSecretStore, verifyMasterKey } from '../domains/identity/keys.ts';
import { settleLastUsed } from '../domains/identity/principal.ts';
import { createAgentTools } from '../domains/mcp-servers/calls/agent-tools.ts';
import { createToolCaller } from '../domains/mcp-servers/calls/tool-caller.ts';
import { createMemoryTools } from '../domains/memory/agent-tools/call.ts';
import { createMemoryExtractor } from '../domains/memory/extraction/extractor.ts';
import { startMemoryJob } from '../domains/memory/job.ts';
import { createMemoryRecaller } from '../domains/memory/recall.ts';
import { createModelCaller } from '../domains/models/caller.ts';
import { createEmbed } from '../domains/models/embed.ts';
import { createTurnCaller } from '../domains/models/turn-caller.ts';
import { startNotificationJob } from '../domains/notifications/job.ts';
import { startRetentionJob } from '../domains/retention/job.ts';
import { startRunStopJob } from '../domains/run-stops/job.ts';
import { createWorkflowCaller } from '../domains/runs/calls/workflow-caller.ts';
import { createRunTools } from '../domains/runs/tools/run-tools.ts';
import { runEndsOf } from '../domains/runs/waiting/run-ends.ts';
import { settleDeliveries } from '../domains/webhooks/delivery-log.ts';
import type { Config } from '../operation/config.ts';
import { ownOrigins } from '../operation/demo-address.ts';
import { demoApiAddresses } from '../operation/demo-api.ts';
import { demoMcpAddresses } from '../operation/demo-mcp.ts';
import { featuresOf } from '../operation/features.ts';
import { createRequestLimiter } from '../operation/rate-limits.ts';
import type { Services } from '../operation/services.ts';
import type { Membership } from '../orchestrator/cluster/index.ts';
import { LuaPool } from '../orchestrator/languages/lua/index.ts';
import { createEmbeddedOrchestrator } from '../orchestrator/runtime/index.ts';
import { createLiveText } from '../orchestrator/runtime/live-text.ts';
import { createStepTypes } from '../orchestrator/steps/registry.ts';
import { type Alarm, type Clock, systemAlarm, systemClock } from '../platform/clock.ts';
import { createEgress } from '../platform/egress/egress.ts';
import { createLineageSeal, sealedLineage } from '../platform/lineage.ts';
import type { Logger } from '../platform/logger.ts';
import { createMailer } from '../platform/mail/mailer.ts';
import type { Database } from '../platform/postgres/database.ts';
import { RequestTurns } from '../platform/request-turns.ts';
import { openCluster } from './open-cluster.ts';
import { openForwarding } from './open-forwarding.ts';
import { openSignIn } from './open-sign-in.ts';
import { type MetricsRegistry, startTelemetry, type Telemetry } from './telemetry.ts';

/** The running service, as surfaces and the process see it. */
export type Container = {
  services: Services;
  /** The REST surface for a fetch handler; `address` is the client's, for the rate limiter. */
  handle(request: Request, client: { address: string }): Promise<Response>;
  /** The REST surface on plain data: what the process's own HTTP server uses. */
  rest: Rest;
  trpc: Trpc;
  mcp: McpSurface;
  /** Null: it is switched off. */
  demoMcp: DemoMcp | null;
  /** Null if the demo MCP server is also off. */
  demoApi: DemoApi | null;
  /** Absent outside of a cluster. */
  forwardSeal?: ForwardSeal;
  otherAssets?: StaticAssets;
  /** The Platform MCP endpoint for a fetch handler. */
  handleMcp(request: Request, client: { address: string }): Promise<Response>;
  /** The tRPC surface for a fetch handler. */
  handleTrpc(request: Request, client: { address: string }): Promise<Response>;
  stream: Stream;
  /** The dependencies of the console's sign-in. */
  identity: ConsoleIdentity;
  /** Settles once the orchestrator knows whether it leads or is a standby. */
  ready: Promise<void>;
  /** Closes sockets, lets steps in flight finish, and writes pending data. The database stays open: it belongs to the caller. */
  close(): Promise<void>;
};

export type ContainerOptions = {
  config: Config;
  logger: Logger;
  database: Pick<Database, 'url' | 'pool' | 'prisma'> & Partial<Pick<Database, 'replication'>>;
  clock?: Clock;
  /** The alarm of the daily job; default setTimeout. */
  alarm?: Alarm;
};

/** The key under which routes that Next bundles find the running container (app/container.ts). */
const published = Symbol.for('baton.container');

/**
 * Constructs everything on an open database and publishes it: the parts are connected only here. The orchestrator starts
 * immediately. Throws MisconfiguredError for a master key that is not the database's, and ConfigError for plans that cannot be
 * used.
 */
export async function createContainer(options: ContainerOptions): Promise<Container> {
  const { config, logger, database, clock = systemClock, alarm = systemAlarm } = options;
  const cluster = await openCluster({ config, connectionString: database.url, clock, alarm, logger });
  try {
    return await compose({ config, logger, database, clock, alarm }, cluster);
  } catch (error) {
    await cluster?.close();
    throw error;
  }
}

/** The keys come first: with the wrong master key nothing else may be written. */
async function compose(
  { config, logger, database, clock, alarm }: Required<ContainerOptions>,
  cluster: Membership | null,
): Promise<Container> {
  const { pool, prisma, replication = null } = database;
  const keys = await loadIdentityKeys({ config, pool, clock, logger });
  const { credits, payments, topUp } = await openBilling({ config, pool, clock, logger });
  const secrets = await openSecretStore({ config, pool, clock, logger, masterKey: keys.masterKey });
  const outgoing = openEgress(config, keys.masterKey);
  const luaPool = new LuaPool();
  const callers = createCallers({ config, pool, prisma, secrets, clock, egress: outgoing.egress, logger });
  const stepTypes = createStepTypes({ luaPool, ...callers });
  const telemetry = await startTelemetry(config, logger);
  const orchestrator = createEmbeddedOrchestrator({
    pool,
    connectionString: database.url,
    synchronous: config.database.replication === 'require',
    clock,
    logger,
    stepTypes,
    config: config.orchestrator,
    observer: telemetry.observer,
    credits,
    spending: createSpendingSource({ pool }),
    beforeLeading: () => verifyMasterKey({ config, pool }, keys.masterKey),
    ...(cluster && { cluster }),
  });
  telemetry.watch({ orchestrator, luaPool, pool, cluster, replication });
  const services: Services = {
    config,
    clock,
    logger,
    pool,
    prisma,
    orchestrator,
    cluster,
    stepTypes,
    secrets,
    ...outgoing,
    liveText: callers.liveText,
    embed: callers.embed,
    rateLimiter: createRequestLimiter(config.http.rateLimit, clock, cluster && pool),
    requestTurns: new RequestTurns({ clock, alarm }),
    mail: config.mail && createMailer(config.mail),
    payments,
    topUp,
    replication,
  };
  const surfaces = createSurfaces(services, keys, { alarm, registry: telemetry.registry }, callers.platform);
  const abandonedRemoved = removeAbandonedConnections(services);
  const jobs = startJobs(services, { database, alarm, ready: orchestrator.ready, telemetry });
  const demos = createDemos(services);
  const container: Container = {
    services,
    ...surfaces,
    ...demos,
    identity: openSignIn(services, keys, alarm),
    ready: orchestrator.ready,
    async close() {
      if (Reflect.get(globalThis, published) === container) Reflect.deleteProperty(globalThis, published);
      runEndsOf(services).close();
      await jobs.close();
      await Promise.all([abandonedRemoved, surfaces.stream.close()]);
      await orchestrator.close();
      await cluster?.close();
      await luaPool.close();
      await callers.tools.close();
      await demos.demoMcp?.close();
      await payments.close();
      await Promise.all([outgoing.egress.close(), container.identity.signOn?.close()]);
      secrets.close();
      await telemetry.close();
      await credits.settled();
      await settleWrites(services);
    },
  };
  Reflect.set(globalThis, published, container);
  return container;
}

/** Creates the egress guard, whose requests to this service itself carry the lineage of the run that sends them. */
function openEgress(config: Config, masterKey: Uint8Array): Pick<Services, 'egress' | 'lineage'> {
  const lineage = createLineageSeal(masterKey);
  const egress = createEgress({
    allowPrivate: config.egress.allowPrivate,
    exempt: demoAddresses(config),
    self: { origins: ownOrigins(config.http), lineage: () => sealedLineage(lineage) },
  });
  return { lineage, egress };
}

/** The addresses of this process that may be called though they are not on the public network. */
function demoAddresses({ demoMcp, http }: Config): string[] {
  return demoMcp ? [...demoMcpAddresses(http), ...demoApiAddresses(http)] : [];
}

function createDemos({ config, clock }: Pick<Services, 'config' | 'clock'>): Pick<Container, 'demoMcp' | 'demoApi'> {
  if (!config.demoMcp) return { demoMcp: null, demoApi: null };
  return { demoMcp: createDemoMcp({ clock, allowed: config.mcp }), demoApi: createDemoApi(config.mcp) };
}

/** Creates the callers through which steps reach other systems, and the live text of models. */
function createCallers(
  services: Pick<Services, 'config' | 'pool' | 'prisma' | 'secrets' | 'clock' | 'egress' | 'logger'>,
) {
  const models = createModelCaller(services);
  const authority = createRunAuthority(services);
  const embed = createEmbed(services);
  return {
    tools: createToolCaller(services),
    models,
    turns: createTurnCaller(services),
    liveText: createLiveText(),
    agentTools: createAgentTools(services),
    platform: createPlatformTools(authority, BRIEF),
    authority,
    approvals: createApprovalSettings(services),
    extractor: createMemoryExtractor({ ...services, models, authority }),
    embed,
    recaller: createMemoryRecaller({ ...services, embed, authority }),
    ...(services.config.memory.on && { memoryTools: createMemoryTools({ ...services, embed, authority }) }),
    agents: createAgentSource(services),
    grants: createAgentGrants(services),
    conversations: createConversations(services),
    requester: createHttpRequester(services),
    workflows: createWorkflowCaller(services),
    runTools: createRunTools(services),
  };
}

/** Waits for writes that continue after their answer was sent. */
async function settleWrites(services: Services): Promise<void> {
  await awaitPendingAnswers(services);
  await settleMails(services);
  services.mail?.close();
  await settleLastUsed(services);
  await settleDeliveries(services);
  await settleAudit(services);
}

/** The plans and the payment provider. Throws ConfigError for plans that cannot be used. */
async function openBilling(services: Pick<Services, 'config' | 'pool' | 'clock' | 'logger'>) {
  const { config, pool, clock } = services;
  const catalog = readCatalog(config.billing);
  await seedPlans(pool, catalog, clock.now());
  return {
    topUp: catalog.topUp,
    credits: createCreditSource(services),
    payments: await openProvider(services),
  };
}

/** The jobs of the deployment, which one process at a time does on a schedule. */
function startJobs(
  services: Services,
  {
    database,
    alarm,
    ready,
    telemetry,
  }: Pick<ContainerOptions, 'database'> & { alarm: Alarm; ready: Promise<void>; telemetry: Telemetry },
): { close(): Promise<void> } {
  const { clock, logger, config, orchestrator } = services;
  const leading = () => orchestrator.leadsJobs();
  // Commands to runs are accepted only where their workspace is led.
  const executing = () => orchestrator.status() === 'leading';
  const jobs = [
    startBillingJob({ services, alarm, ready, leading }),
    startCountJob({ pool: database.pool, clock, alarm, logger, leading }),
    startRetentionJob({
      database,
      clock,
      alarm,
      logger,
      policy: config.retention,
      leading,
      onClockDoubt: telemetry.retention.clockDoubted,
    }),
    startAnalyticsJob({ database, clock, alarm, logger, leading }),
    startReconciliationJob({ services, alarm, leading }),
    startNotificationJob({ services, alarm, leading }),
    startFailureHandlerJob({ services, alarm, leading: executing }),
    startMemoryJob({ services, alarm, leading }),
    startChatJob({ services, alarm, leading: executing }),
    startRunStopJob({ services, alarm, leading: executing }),
  ];
  return {
    async close() {
      for (const job of jobs) await job.close();
    },
  };
}

function createSurfaces(
  services: Services,
  { masterKey, sessionSecret }: IdentityKeys,
  { alarm, registry: measured }: { alarm: Alarm; registry: MetricsRegistry },
  platform: ReturnType<typeof createPlatformTools>,
): Pick<
  Container,
  'handle' | 'rest' | 'handleTrpc' | 'trpc' | 'handleMcp' | 'mcp' | 'stream' | 'forwardSeal' | 'otherAssets'
> {
  const registry = createRegistry(operations);
  const forwarding = openForwarding(services, { masterKey, alarm, registry: measured });
  const metrics = createMetrics(() => services.orchestrator.leadsJobs(), measured);
  const common = {
    services,
    sessionSecret,
    registry,
    metrics,
    forward: forwarding?.forward,
    features: featuresOf(services.config),
    checkOutput: services.config.env !== 'production',
  };
  platform.connect(common);
  const streams = new OpenStreams(common);
  const rest = createRest({ ...common, streams, pages: createPages(services, registry, metrics) });
  const trpc = createTrpc(common);
  const mcp = createMcp(common);
  const stream = createStream({ ...common, streams });
  return {
    rest,
    handle: async (request, { address }) => toFetch(await rest(fromFetch(request, address))),
    trpc,
    handleTrpc: async (request, { address }) => toFetch(await trpc(fromFetch(request, address))),
    mcp,
    handleMcp: async (request, { address }) => toFetch(await mcp(fromFetch(request, address))),
    stream: {
      ...stream,
      async close() {
        await stream.close();
        forwarding?.forward.close();
      },
    },
    ...(forwarding && { forwardSeal: forwarding.forwardSeal, otherAssets: forwarding.otherAssets }),
  };
}
