import type { JsonMap } from '../../orchestrator/core/index.ts';
import { MINUTE_MS } from '../../platform/clock.ts';
import { EgressRefused } from '../../platform/egress/egress.ts';
import { needsRefresh, type RefreshServices, refreshed } from './oauth/refresh.ts';
import { maySend, originOf, requireOrigin } from './origins.ts';
import { type ConnectionRef, touchConnection } from './store.ts';
import { readStored } from './stored.ts';

type Settings = { provider: string; service: string; config: JsonMap };

export type LoadedCredentials = Settings & {
  id: string;
  name: string;
  /** Secrets by name; callers redact them from everything that they pass on. No prototype. */
  values: Readonly<Record<string, string>>;
  /** Sends requests with them, only to the origins to which they are bound. */
  fetch: typeof globalThis.fetch;
};

/** The address to which the credentials are sent, or a function that derives it from the settings stored with them. */
export type Destination = string | ((connection: Settings) => string);

/**
 * Returns the secrets of a connection for a call to `destination`; null if the project sees no such connection. This is
 * the only way in which credentials leave the secret store (server/structure.test.ts): they are released for an origin
 * that they are bound to, with a fetch that reaches no other. An access token that is about to expire is refreshed
 * first. Throws AppError 409 `credential_origin_refused`; 503 `secret_store_unavailable` or `oauth_unavailable`; 409
 * `connection_expired` or `connection_incomplete` if a person has to connect it again.
 */
export async function loadCredentials(
  services: RefreshServices,
  ref: ConnectionRef,
  destination: Destination,
): Promise<LoadedCredentials | null> {
  const now = services.clock.now();
  const read = await readStored(services, ref);
  if (read === null) return null;
  const addressOf = typeof destination === 'string' ? () => destination : destination;
  requireOrigin(read.row, addressOf(read.row));
  const stored = needsRefresh(read.row, now) ? await refreshed(services, ref) : read;
  if (stored === null) return null;
  const { row, document } = stored;
  // A concurrent request may have connected it again while the token was fetched.
  requireOrigin(row, addressOf(row));
  // `last_used_at` is accurate to the minute.
  if (row.lastUsedAt === null || now - row.lastUsedAt.getTime() >= MINUTE_MS) {
    await touchConnection(services.prisma, ref, new Date(now));
  }
  const { id, name, provider, service, config } = row;
  const fetch = boundFetch(services.egress.fetch, row.origins);
  return { id, name, provider, service, config, values: document.values, fetch };
}

/** A fetch that refuses all other origins. Redirects drop credentials (server/platform/egress/redirects.ts). */
function boundFetch(send: typeof globalThis.fetch, origins: readonly string[]): typeof globalThis.fetch {
  return async (input, init) => {
    const url = input instanceof Request ? input.url : String(input);
    if (maySend(origins, url)) return send(input, init);
    throw new EgressRefused(`The credentials may not be sent to ${originOf(url) ?? 'this address'}.`);
  };
}
