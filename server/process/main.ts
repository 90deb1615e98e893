import { createServer } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Edge, type Frontend, listen } from '../api/edge.ts';
import { type ConsoleFrontend, createFrontend } from '../api/frontend.ts';
import { listenFailure, starting } from '../api/http-server.ts';
import { serveStaticAssets } from '../api/static-assets.ts';
import { type SeededOwner, seedFirstOwner } from '../domains/identity/bootstrap.ts';
import { resolveSession } from '../domains/identity/principal.ts';
import { seedExample } from '../domains/seed/example.ts';
import { type Config, ConfigError } from '../operation/config.ts';
import { demoMcpUrl } from '../operation/demo-mcp.ts';
import { createLogger, type Logger } from '../platform/logger.ts';
import { type Database, openDatabase } from '../platform/postgres/database.ts';
import { MisconfiguredError, StartupError } from '../platform/postgres/startup-error.ts';
import { registerProcessSecrets } from '../platform/secrets/in-use.ts';
import { configuredSecrets } from './configured-secrets.ts';
import { type Container, createContainer } from './container.ts';
import { leave } from './leave.ts';
import { loadConfig } from './load-config.ts';
import { stopOnSignals } from './process-end.ts';
import { proxyNotice, startupBanner } from './startup-banner.ts';

/** The time for answers in progress once the process is asked to stop. */
const ANSWER_GRACE_MS = 5000;

/** The started parts, in order; they are stopped in the reverse order. */
type Running = { edge: Edge; console?: { close(): Promise<void> }; container?: Container; database?: Database };

/** Brings the service up: port, database, container, console. What was started before a failure is stopped again. */
async function start(config: Config, logger: Logger): Promise<Running> {
  let frontend: Frontend = starting;
  const edge = await listen(config.http, () => frontend, { ...config.http, logger }).catch(error => {
    throw new StartupError(listenFailure(error, config.http), { cause: error });
  });
  const { port } = edge;
  const running: Running = { edge };
  try {
    const settled = withPort(config, port);
    const database = await openDatabase(settled, logger);
    running.database = database;
    const container = await createContainer({ config: settled, logger, database });
    running.container = container;
    await container.ready;
    const next = await startConsole(settled, port);
    running.console = next;
    // The last step that can fail: the banner shows the generated credentials only once.
    const owner = await seedFirstOwner(container.services);
    frontend = createFrontend(settled, container, next);
    process.stdout.write(startupBanner(settled.http.url, owner, database.movedTo, proxyNotice(settled.http)));
    report('serving');
    void seed(container, owner);
    return running;
  } catch (error) {
    await stop(running);
    throw error;
  }
}

/** PORT=0 takes any free port, which the public URL must then name. */
function withPort(config: Config, port: number): Config {
  return { ...config, http: { ...config.http, port, url: config.http.url.replace(/:0$/, `:${port}`) } };
}

type Console = ConsoleFrontend & { close(): Promise<void> };

/**
 * Next, for everything that is not the API. It gets a separate server that never listens: it attaches an `upgrade` listener and
 * ends sockets that are not its own.
 */
async function startConsole({ env, http }: Config, port: number): Promise<Console> {
  const { default: next } = await import('next');
  const decoy = createServer();
  const dir = fileURLToPath(new URL('../..', import.meta.url));
  const app = next({ dev: env === 'development', dir, hostname: http.host, port, httpServer: decoy });
  await app.prepare();
  const handle = app.getRequestHandler();
  const isBuilt = env !== 'development';
  return {
    ...(isBuilt && { assets: serveStaticAssets(join(dir, '.next', 'static'), '/_next/static/') }),
    request: (request, response) => handle(request, response),
    // The development server takes upgrades, for hot reloading. In production its listener takes none, and closes none either.
    upgrade: (request, socket, head) =>
      env === 'development' &&
      request.url?.startsWith('/_next/') === true &&
      decoy.emit('upgrade', request, socket, head),
    close: () => app.close(),
  };
}

/** Seeds the example while the console already answers. A failure costs the example, not the start. */
async function seed({ services }: Container, owner: SeededOwner): Promise<void> {
  if (!owner.created || services.config.identity.seed !== 'example') return;
  const { email, tenantId } = owner;
  if (!services.orchestrator.leads(tenantId)) {
    services.logger.warn('the example is not made: its runs would be executed by another node');
    return;
  }
  try {
    const user = await services.prisma.user.findFirstOrThrow({ where: { email, confirmedAt: { not: null } } });
    const session = { userId: user.id, sessionEpoch: user.sessionEpoch };
    const principal = await resolveSession(services, session, { tenantId });
    const { demoMcp, http } = services.config;
    if (principal) await seedExample(services, { principal, demoUrl: demoMcp ? demoMcpUrl(http) : null });
  } catch (error) {
    services.logger.warn({ err: error }, 'the example could not be made');
  }
}

/** Stops accepting connections, closes sockets and the orchestrator, and closes the database last. */
async function stop({ edge, console, container, database }: Running): Promise<void> {
  const answered = edge.close(ANSWER_GRACE_MS);
  await container?.close();
  await answered;
  await console?.close();
  await database?.close();
}

/** Tells `npm start` how far this process got (bin/supervise.mjs). Does nothing in a process that was started without it. */
function report(state: 'serving' | 'misconfigured' | 'defect'): void {
  // The callback takes the error of a parent that has just ended.
  if (process.connected) process.send?.(state, undefined, undefined, () => undefined);
}

/** Returns one line for an error on which an operator can act; any other error is a defect and keeps its stack. */
function explain(error: unknown): string {
  if (error instanceof ConfigError) return `baton: the configuration cannot be used:\n${error.message}\n`;
  if (error instanceof StartupError) return `baton: ${error.message}\n`;
  return `baton: the service could not start: ${error instanceof Error ? error.stack : String(error)}\n`;
}

try {
  const config = loadConfig();
  registerProcessSecrets(configuredSecrets(config));
  const logger = createLogger(config.log.level, { traces: config.tracing !== null });
  const running = await start(config, logger);
  stopOnSignals({
    stop: () => stop(running),
    logger,
    shutdownGraceMs: config.orchestrator.shutdownGraceMs,
    onDefect: () => report('defect'),
  });
} catch (error) {
  if (error instanceof ConfigError || error instanceof MisconfiguredError) report('misconfigured');
  process.stderr.write(explain(error));
  leave(1);
}
