import {
  allowInsecureRequests,
  ClientSecretBasic,
  ClientSecretPost,
  Configuration,
  type CustomFetch,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
  type FetchBody,
  None,
  ResponseBodyError,
  type ServerMetadata,
} from 'openid-client';
import { type Clock, HOUR_MS } from '../clock.ts';
import { type Egress, EgressRefused } from '../egress/egress.ts';
import { type AppError, unavailable } from '../errors.ts';
import type { OauthSettings } from './settings.ts';

export type OauthServices = { clock: Clock; egress: Egress };

/**
 * The time limit of a request to an authorization server in seconds, shorter than a database's wait for a lock (10).
 */
const TIMEOUT_S = 4;
/** Metadata and keys of a server change about once a year; most clients cache them for an hour. */
const KEPT_MS = HOUR_MS;

type Kept = { at: number; configuration: Promise<Configuration> };
const cache = new WeakMap<OauthSettings, Kept>();

/**
 * Returns the client of these settings, with discovery if they name only an issuer. Every
 * request passes the egress guard.
 */
export async function oauthClient(services: OauthServices, settings: OauthSettings): Promise<Configuration> {
  const now = services.clock.now();
  const known = cache.get(settings);
  if (known && now - known.at < KEPT_MS) return known.configuration;
  const configuration = connect(services, settings);
  cache.set(settings, { at: now, configuration });
  configuration.catch(() => cache.delete(settings));
  return configuration;
}

async function connect({ egress }: OauthServices, settings: OauthSettings): Promise<Configuration> {
  // Plain http only if the operator configured it: a server on the same machine or network.
  const insecure = (settings.endpoints?.token ?? settings.issuer ?? '').startsWith('http:');
  const execute = insecure ? [allowInsecureRequests] : [];
  const guarded: CustomFetch = (url, { body, signal, ...init }) =>
    egress.fetch(url, { ...init, body: bodyOf(body), signal: signal ?? null });
  const options = { [customFetch]: guarded, timeout: TIMEOUT_S, execute };
  const server =
    settings.endpoints === undefined
      ? (
          await discovery(new URL(settings.issuer ?? ''), settings.clientId, undefined, undefined, options)
        ).serverMetadata()
      : metadataOf(settings.issuer, settings.endpoints);
  const configuration = new Configuration(server, settings.clientId, undefined, authentication(server, settings));
  configuration[customFetch] = guarded;
  configuration.timeout = TIMEOUT_S;
  if (insecure) allowInsecureRequests(configuration);
  if (settings.verifiesSignatures) enableNonRepudiationChecks(configuration);
  return configuration;
}

/** The client's type of a body allows bytes in shared memory, which fetch's does not. */
const bodyOf = (body: FetchBody) => (body instanceof Uint8Array ? new Uint8Array(body) : (body ?? null));

function metadataOf(issuer: string | undefined, endpoints: NonNullable<OauthSettings['endpoints']>): ServerMetadata {
  return {
    issuer: issuer ?? new URL(endpoints.token).origin,
    authorization_endpoint: endpoints.authorization,
    token_endpoint: endpoints.token,
    ...(endpoints.userinfo === undefined ? {} : { userinfo_endpoint: endpoints.userinfo }),
  };
}

/** Sends the secret in the body, as most servers accept it, unless this one accepts it only in the header. */
function authentication(server: ServerMetadata, { clientSecret }: OauthSettings) {
  if (clientSecret === undefined) return None();
  const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_post'];
  return methods.includes('client_secret_post') ? ClientSecretPost(clientSecret) : ClientSecretBasic(clientSecret);
}

/** The failure of a request to an authorization server: it refused, with an OAuth error code, or did not answer. */
export type OauthFailure = { refused: string } | { away: string };

const unreachable = 'it cannot be reached';
/** Codes of an answer that arrived but is wrong: another nonce, issuer, audience or time. */
const untrusted: ReadonlySet<string> = new Set([
  'OAUTH_JWT_CLAIM_COMPARISON_FAILED',
  'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED',
  'OAUTH_JWT_TIMESTAMP_CHECK_FAILED',
  'OAUTH_INVALID_RESPONSE',
]);

/**
 * Reads an error of the client. Neither the server's text nor the error itself is passed on,
 * because both can quote tokens.
 */
export function oauthFailure(error: unknown): OauthFailure {
  if (error instanceof ResponseBodyError && error.status < 500 && error.status !== 429) {
    return { refused: /^[a-z_]{1,64}$/.test(error.error) ? error.error : 'error' };
  }
  const guarded = causeOf(error, EgressRefused);
  if (guarded) return { away: guarded.message };
  if (!(error instanceof Error && 'code' in error && typeof error.code === 'string')) return { away: unreachable };
  return untrusted.has(error.code) ? { refused: 'invalid_response' } : { away: error.code };
}

/** Returns AppError 503 for an authorization server that does not answer, with a reason in our own words. */
export function oauthAway(provider: string, reason: string): AppError {
  return unavailable('oauth_unavailable', `The ${provider} authorization server is not available (${reason}).`, 10);
}

function causeOf<E extends Error>(error: unknown, kind: new (...values: never[]) => E): E | undefined {
  for (let each = error; each instanceof Error; each = each.cause) if (each instanceof kind) return each;
  return undefined;
}
