import { isIP } from 'node:net';
import type { Services } from '../../operation/services.ts';
import type { CheckScope, StepProblem } from '../../orchestrator/ports/step-type.ts';
import type {
  HttpCall,
  HttpCredentials,
  HttpFailed,
  HttpRequester,
} from '../../orchestrator/steps/http-request/http-requester.ts';
import { egressRefusal } from '../../platform/egress/egress.ts';
import { AppError } from '../../platform/errors.ts';
import { ResponseMemory } from '../../platform/http-client/response-memory.ts';
import { isId } from '../../platform/ids.ts';
import { inSecretScope, noteSecrets } from '../../platform/secrets/in-use.ts';
import { createRedactor } from '../../platform/secrets/redaction.ts';
import { loadCredentials } from '../connections/credentials.ts';
import { requireOrigin } from '../connections/origins.ts';
import { findConnection } from '../connections/store.ts';
import { type AppliedCredentials, applyCredentials, unfitReason } from './credentials.ts';
import { exchange } from './exchange.ts';

export type RequesterServices = Pick<Services, 'pool' | 'prisma' | 'secrets' | 'clock' | 'egress' | 'config'>;

type Bound = AppliedCredentials & { fetch: typeof globalThis.fetch };

/**
 * Returns the port through which `http_request` steps send requests, with credentials of the run's own project only.
 */
export function createHttpRequester(services: RequesterServices): HttpRequester {
  const memory = new ResponseMemory(services.config.orchestrator.memory.uncommittedResultBytes);
  return {
    async check(scope, { url, credentials }) {
      const refused = url === null ? null : await literalRefusal(services, url);
      const problems = credentials === null ? [] : await connectionProblems(services, scope, url, credentials);
      return refused === null ? problems : [refused, ...problems];
    },
    send: (call, { signal }) =>
      inSecretScope(async () => {
        const bound = await bind(services, call);
        if ('kind' in bound) return bound;
        return exchange({
          call,
          url: withParameters(new URL(call.url), bound.query),
          headers: withCredentials(new Headers([...call.headers]), bound.headers),
          fetch: bound.fetch,
          redactor: createRedactor(bound.secrets),
          memory,
          now: services.clock.now(),
          signal,
        });
      }),
  };
}

/**
 * Checks an IP address or `localhost` when the graph is checked. Other host names are not checked here, because they may resolve
 * differently at the time of the request.
 */
async function literalRefusal({ egress }: RequesterServices, url: string): Promise<StepProblem | null> {
  const host = new URL(url).hostname;
  if (isIP(host.replace(/^\[|\]$/g, '')) === 0 && host !== 'localhost') return null;
  const refusal = await egressRefusal(egress, url);
  return refusal && { path: 'url', code: refusal.code, message: refusal.message };
}

async function connectionProblems(
  { prisma }: RequesterServices,
  scope: CheckScope,
  url: string | null,
  { connectionId, auth }: HttpCredentials,
): Promise<StepProblem[]> {
  const problem = (code: string, message: string) => [{ path: 'connection_id', code, message }];
  const row = isId(connectionId) ? await findConnection(prisma, { ...scope, connectionId }) : null;
  if (row === null) return problem('unknown_connection', 'there is no such connection in this project');
  const reason = unfitReason(auth, row.credentialKeys);
  if (reason !== null) return problem('connection_unfit', `The connection “${row.name}” does not fit. ${reason}`);
  try {
    if (url !== null) requireOrigin(row, url);
    return [];
  } catch (error) {
    if (error instanceof AppError) return problem(error.code, error.message);
    throw error;
  }
}

const failed = (code: string, message: string, retryable = false): HttpFailed => ({
  kind: 'failed',
  code,
  message,
  retryable,
});

async function bind(services: RequesterServices, { tenantId, projectId, url, credentials }: HttpCall) {
  if (credentials === null) {
    return { headers: {}, query: [], secrets: [], fetch: services.egress.fetch } satisfies Bound;
  }
  const { connectionId, auth } = credentials;
  try {
    const ref = { tenantId, projectId, connectionId };
    const found = isId(connectionId) ? await loadCredentials(services, ref, url) : null;
    if (found === null) return failed('unknown_connection', 'There is no such connection in this project.');
    const applied = applyCredentials(auth, found.values);
    if ('problem' in applied) {
      return failed('connection_unfit', `The connection “${found.name}” does not fit. ${applied.problem}`);
    }
    noteSecrets(applied.secrets);
    return { ...applied, fetch: found.fetch } satisfies Bound;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return failed(error.code, error.message, error.status >= 500);
  }
}

/** A credential replaces a header that the step sets. */
function withCredentials(headers: Headers, credentials: Bound['headers']): Headers {
  for (const [name, value] of Object.entries(credentials)) headers.set(name, value);
  return headers;
}

/** Adds the parameters of credentials last, replacing those of the same name. */
function withParameters(url: URL, parameters: Bound['query']): URL {
  for (const [name, value] of parameters) url.searchParams.set(name, value);
  return url;
}
