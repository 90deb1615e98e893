import { encode } from 'next-auth/jwt';
import { listen } from '../api/edge.ts';
import { asAppError } from '../api/failure.ts';
import type { Forward } from '../api/forward/forward.ts';
import { receiveForwarded } from '../api/forward/received.ts';
import type { ForwardSeal } from '../api/forward/signature.ts';
import { createMcp } from '../api/mcp/surface.ts';
import { createMetrics } from '../api/metrics.ts';
import { answerError, serveNode, serveSurfaces } from '../api/node-http.ts';
import { OpenStreams, type OpenStreamsOptions } from '../api/open-streams.ts';
import { createPages } from '../api/pages.ts';
import { createRegistry } from '../api/registry.ts';
import { fromFetch, toFetch } from '../api/request.ts';
import { createRest } from '../api/rest.ts';
import { createStream, type StreamOptions } from '../api/stream.ts';
import { createTrpc } from '../api/trpc.ts';
import type { Principal } from '../operation/context.ts';
import { featuresOf } from '../operation/features.ts';
import type { AnyOperation } from '../operation/operation.ts';
import type { Services } from '../operation/services.ts';
import { createTestPat, createTestServices, createTestTenant, type TestTenant } from './identity.ts';
import { createTestDatabase, type TestDatabase } from './postgres.ts';

const testSessionSecret = 'a secret of tests alone';

export type TestApi = {
  url: string;
  /** The REST surface for fetch requests, as Next's route mounts it. */
  fetchHandler: (request: Request) => Promise<Response>;
  trpc: (request: Request) => Promise<Response>;
  close(): Promise<void>;
};

/** Every surface over these operations, on a real HTTP server with a free port. */
export async function startTestApi(
  services: Services,
  operations: readonly AnyOperation[],
  options: {
    stream?: Partial<StreamOptions> & Pick<OpenStreamsOptions, 'recheckEveryMs'>;
    features?: readonly string[];
    cluster?: { forward: Forward; seal: ForwardSeal };
  } = {},
): Promise<TestApi> {
  const registry = createRegistry(operations);
  const metrics = createMetrics(() => services.orchestrator.status() === 'leading');
  const seal = options.cluster?.seal ?? null;
  const common = { services, sessionSecret: testSessionSecret, metrics, forward: options.cluster?.forward };
  const invoker = {
    features: new Set([...featuresOf(services.config), ...(options.features ?? [])]),
    checkOutput: true,
  };
  const streams = new OpenStreams({ ...common, ...options.stream });
  const rest = createRest({
    ...common,
    streams,
    ...invoker,
    registry,
    pages: createPages(services, registry, metrics),
  });
  const trpc = createTrpc({ ...common, ...invoker, registry });
  const mcp = createMcp({ ...common, ...invoker, registry });
  const stream = createStream({ ...common, streams, ...options.stream });
  const edge = await listen(
    { host: '127.0.0.1', port: 0 },
    () => ({
      request(request, response) {
        try {
          receiveForwarded(request, seal);
        } catch (error) {
          return answerError(response, asAppError(error));
        }
        return (
          serveSurfaces({ rest, trpc, mcp, services }, request, response, 0) ?? serveNode(rest, request, response, 0)
        );
      },
      upgrade(request, socket, head) {
        receiveForwarded(request, seal);
        return stream.upgrade(request, socket, head);
      },
    }),
    { ...services.config.http, logger: services.logger },
  );
  const client = { address: '192.0.2.1' };
  return {
    url: `http://127.0.0.1:${edge.port}`,
    fetchHandler: async request => toFetch(await rest(fromFetch(request, client.address))),
    trpc: async request => toFetch(await trpc(fromFetch(request, client.address))),
    async close() {
      await stream.close();
      await edge.close(0);
    },
  };
}

export type TenantApi = TestApi & { db: TestDatabase; tenant: TestTenant; token: string };

/**
 * Starts the surfaces on a separate database, with a tenant and a token of its contributor that
 * may read and write workflows.
 */
export async function startTenantApi(operations: readonly AnyOperation[]): Promise<TenantApi> {
  const db = await createTestDatabase();
  const services = createTestServices(db);
  const tenant = await createTestTenant(services, { slug: 'acme' });
  const { token } = await createTestPat(services, tenant.contributor, ['workflow:read', 'workflow:write']);
  const api = await startTestApi(services, operations);
  return {
    ...api,
    db,
    tenant,
    token,
    async close() {
      await api.close();
      await db.close();
    },
  };
}

/**
 * Returns the cookie of a session, as next-auth would set it. If `epoch` differs from the
 * user's, the session was ended.
 */
export async function sessionCookieOf({ userId }: Principal, epoch = 0): Promise<string> {
  const session = await encode({ secret: testSessionSecret, token: { sub: userId, sessionEpoch: epoch } });
  return `next-auth.session-token=${session}`;
}
