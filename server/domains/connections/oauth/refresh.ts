import { refreshTokenGrant } from 'openid-client';
import type { Services } from '../../../operation/services.ts';
import { AppError, conflict } from '../../../platform/errors.ts';
import { oauthAway, oauthClient, oauthFailure } from '../../../platform/oauth/client.ts';
import type { OauthSettings } from '../../../platform/oauth/settings.ts';
import { withConnectionLock } from '../lock-queries.ts';
import { maySend, originOf } from '../origins.ts';
import type { ConnectionRef, ConnectionRow } from '../store.ts';
import { change, readHeld, replaceSecret, type StoredConnection } from '../stored.ts';
import { narrowedScope } from '../suite/services.ts';
import { credentialsOf, expiryOf } from './tokens.ts';

export type RefreshServices = Pick<Services, 'pool' | 'prisma' | 'secrets' | 'clock' | 'egress' | 'config'>;

/** A token is refreshed this long before it expires, so that it does not expire on its way to a server. */
const MARGIN_MS = 60_000;

const underWay = new WeakMap<RefreshServices['pool'], Map<string, Promise<StoredConnection | null>>>();

/** Returns whether the access token has expired, or is about to. */
export function needsRefresh(row: ConnectionRow, now: number): boolean {
  return row.expiresAt !== null && row.expiresAt.getTime() - MARGIN_MS <= now;
}

/**
 * Returns the connection with a fresh access token. Of any number of concurrent callers, in any number of processes,
 * only one uses the refresh token. A refused token marks the connection `expired`. Throws AppError 409 `connection_expired`,
 * now and until it is connected again. A server that does not answer marks it `error`; callers get the old token until
 * it expires, then AppError 503 `oauth_unavailable`.
 */
export function refreshed(services: RefreshServices, ref: ConnectionRef): Promise<StoredConnection | null> {
  const running = underWay.get(services.pool) ?? new Map<string, Promise<StoredConnection | null>>();
  underWay.set(services.pool, running);
  const key = `${ref.tenantId}/${ref.connectionId}`;
  const joined = running.get(key);
  if (joined) return joined;
  const refreshing = withConnectionLock(services, ref.connectionId, () => refreshHeld(services, ref)).finally(() =>
    running.delete(key),
  );
  running.set(key, refreshing);
  return refreshing;
}

async function refreshHeld(services: RefreshServices, ref: ConnectionRef): Promise<StoredConnection | null> {
  const stored = await readHeld(services, ref);
  // Another process may have refreshed it first.
  if (stored === null || !needsRefresh(stored.row, services.clock.now())) return stored;
  if (stored.row.status === 'expired') throw expired(stored.row);
  const settings = settingsOf(services, stored.row.provider);
  const saved = await saveUnsaved(services, stored);
  if (saved !== null) return saved;
  const { refresh_token: refreshToken } = stored.document.values;
  if (refreshToken === undefined)
    return oldTokenOrExpire(services, stored, 'its access token has ended, and it has no refresh token');
  if (settings === null)
    return oldTokenOrExpire(services, stored, `connecting ${stored.row.provider} is not configured any more`);
  return askServer(services, stored, settings, refreshToken);
}

async function askServer(
  services: RefreshServices,
  stored: StoredConnection,
  settings: OauthSettings,
  refreshToken: string,
): Promise<StoredConnection> {
  const { row, document } = stored;
  const scope = services.config.suite === settings ? narrowedScope(services.config.suite, row) : undefined;
  try {
    const client = await oauthClient(services, settings);
    const { token_endpoint: endpoint = '' } = client.serverMetadata();
    if (row.tokenOrigin !== null && !maySend([row.tokenOrigin], endpoint)) {
      return await oldTokenOrExpire(
        services,
        stored,
        `its refresh token is for ${row.tokenOrigin} only, and the provider has moved`,
      );
    }
    const tokens = await refreshTokenGrant(client, refreshToken, scope === undefined ? {} : { scope });
    // A server that rotates tokens sends a new refresh token; one that does not expects the old one again.
    const values = { ...document.values, ...credentialsOf(tokens) };
    const expiresAt = expiryOf(tokens, services.clock.now());
    const fresh = { of: row.rotatedAt.getTime(), values, expiresAt, tokenOrigin: originOf(endpoint) ?? undefined };
    unsavedOf(services).set(row.id, fresh);
    return await save(services, stored, fresh);
  } catch (error) {
    if (error instanceof AppError) throw error;
    const failure = oauthFailure(error);
    if ('refused' in failure && failure.refused === 'invalid_grant') {
      return oldTokenOrExpire(
        services,
        stored,
        'the provider refused its refresh token: access was withdrawn, or has lapsed',
      );
    }
    const reason = 'refused' in failure ? `it answered ${failure.refused}` : failure.away;
    const unavailableError = oauthAway(row.provider, reason);
    const marked = await change(services, row, { status: 'error', lastError: unavailableError.message });
    if (isStillValid(row, services.clock.now())) return { row: marked, document };
    throw unavailableError;
  }
}

/**
 * Tokens that were fetched but not stored yet. A server that rotates tokens has revoked the old ones,
 * so these must not be lost.
 */
type Unsaved = {
  of: number;
  values: Record<string, string>;
  expiresAt: Date | null;
  tokenOrigin: string | undefined;
};
const unsaved = new WeakMap<RefreshServices['pool'], Map<string, Unsaved>>();

function unsavedOf({ pool }: RefreshServices): Map<string, Unsaved> {
  const present = unsaved.get(pool) ?? new Map<string, Unsaved>();
  unsaved.set(pool, present);
  return present;
}

/**
 * Stores the tokens that an earlier refresh could not store because the secret store was unavailable; returns null if
 * this secret has none.
 */
async function saveUnsaved(services: RefreshServices, stored: StoredConnection): Promise<StoredConnection | null> {
  const found = unsavedOf(services).get(stored.row.id);
  if (found === undefined || found.of !== stored.row.rotatedAt.getTime()) return null;
  const saved = await save(services, stored, found);
  return needsRefresh(saved.row, services.clock.now()) ? null : saved;
}

async function save(services: RefreshServices, stored: StoredConnection, fresh: Unsaved): Promise<StoredConnection> {
  const { values, expiresAt, tokenOrigin } = fresh;
  const changes = { expiresAt, tokenOrigin, status: 'active', lastError: null } as const;
  const saved = await replaceSecret(services, stored, values, changes);
  unsavedOf(services).delete(stored.row.id);
  return saved;
}

/** Returns the connection until its access token expires. After that, marks the connection as expired and throws. */
async function oldTokenOrExpire(
  services: RefreshServices,
  stored: StoredConnection,
  reason: string,
): Promise<StoredConnection> {
  if (isStillValid(stored.row, services.clock.now())) return stored;
  const row = await change(services, stored.row, { status: 'expired', lastError: `Connect it again: ${reason}.` });
  throw expired(row);
}

const isStillValid = (row: ConnectionRow, now: number) => row.expiresAt !== null && row.expiresAt.getTime() > now;

function settingsOf({ config }: RefreshServices, provider: string): OauthSettings | null {
  if (provider === 'suite') return config.suite;
  return provider === 'messaging' ? (config.messaging?.oauth ?? null) : null;
}

function expired({ name, lastError }: ConnectionRow): AppError {
  return conflict('connection_expired', `The connection "${name}" has expired. ${lastError ?? 'Connect it again.'}`);
}
