import type { JsonMap } from '../../orchestrator/core/index.ts';
import { needsRefresh, type RefreshServices, refreshed } from './oauth/refresh.ts';
import { touchConnection } from './store.ts';
import { readStored } from './stored.ts';

export type LoadedCredentials = {
  id: string;
  name: string;
  provider: string;
  service: string;
  config: JsonMap;
  /** Name to secret; whoever uses them redacts them from whatever goes on. No prototype. */
  values: Readonly<Record<string, string>>;
};

/** `last_used_at` is kept to the minute. */
const minuteMs = 60_000;

/**
 * The secrets of a tenant's connection, for a call that is about to be made with them; null where the tenant has no such connection. An
 * access token that is about to end is fetched anew first. AppError 503 `secret_store_unavailable` or `oauth_unavailable`; 409
 * `connection_expired` or `connection_incomplete` where somebody has to connect it again.
 */
export async function loadCredentials(
  services: RefreshServices,
  ref: { tenantId: string; connectionId: string },
): Promise<LoadedCredentials | null> {
  const now = services.clock.now();
  const read = await readStored(services, ref);
  const stored = read !== null && needsRefresh(read.row, now) ? await refreshed(services, ref) : read;
  if (stored === null) return null;
  const { row, document } = stored;
  if (row.last_used_at === null || now - row.last_used_at.getTime() >= minuteMs) {
    await touchConnection(services.pool, ref, new Date(now));
  }
  const { id, name, provider, service, config } = row;
  return { id, name, provider, service, config, values: document.values };
}
