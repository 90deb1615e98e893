import type { z } from 'zod';
import type { Context } from '../../../operation/context.ts';
import { invalid } from '../../../platform/errors.ts';
import type { SuiteSettings } from '../../../platform/oauth/settings.ts';
import { withConnectionLock } from '../lock-queries.ts';
import { requireManageable } from '../ownership.ts';
import type { ConnectionRow } from '../store.ts';
import { change } from '../stored.ts';
import { requireSuite, requireSuiteConnection } from './connect.ts';
import type { ByConnectionId, SuiteAccount, SuiteServicesInput } from './schemas.ts';
import { isGranted, suiteConfigOf } from './services.ts';

type Account = z.input<typeof SuiteAccount>;

/**
 * GET /v1/connections/suite/accounts/{connectionId}: the account, and its granted and enabled services. Throws AppError 404.
 */
export async function suiteAccount(ctx: Context, { connectionId }: z.output<typeof ByConnectionId>): Promise<Account> {
  const settings = requireSuite(ctx.services);
  return accountOf(settings, await requireSuiteConnection(ctx, connectionId));
}

/**
 * PATCH …/services. Disabling a service also disables it at the provider: the next use fetches an access token
 * with only the scopes of the enabled services. A service that was not granted is AppError 422
 * `service_not_granted`: its owner has to consent.
 */
export async function patchSuiteServices(
  ctx: Context,
  { connectionId, services: wanted }: z.output<typeof SuiteServicesInput>,
): Promise<Account> {
  const { services } = ctx;
  const settings = requireSuite(services);
  requireManageable(ctx, await requireSuiteConnection(ctx, connectionId));
  return withConnectionLock(services, connectionId, async () => {
    const row = await requireSuiteConnection(ctx, connectionId);
    const config = suiteConfigOf(row);
    refuseUngranted(settings, config.granted_scopes, wanted);
    const on = [...settings.services.keys()].filter(each => wanted[each] ?? config.services.includes(each));
    const same = on.length === config.services.length && on.every(each => config.services.includes(each));
    if (same) return accountOf(settings, row);
    // A connection with a refresh token gets another access token at its next use.
    const renewable = row.credentialKeys.includes('refresh_token');
    const expiresAt = renewable ? new Date(services.clock.now()) : undefined;
    return accountOf(settings, await change(services, row, { config: { ...config, services: on }, expiresAt }));
  });
}

function refuseUngranted(
  settings: SuiteSettings,
  granted: readonly string[],
  wanted: Readonly<Record<string, boolean>>,
): void {
  const unknown = Object.keys(wanted).filter(name => !settings.services.has(name));
  if (unknown.length > 0) {
    const details = unknown.map(name => ({ path: `services.${name}`, message: 'is not a service of this suite' }));
    throw invalid('These services do not exist.', details);
  }
  const missing = Object.keys(wanted).filter(
    name => wanted[name] && !isGranted(settings.services.get(name) ?? [], granted),
  );
  if (missing.length === 0) return;
  const message = 'was not granted: request it with POST /v1/connections/suite/oauth-url and this connection_id';
  const details = missing.map(name => ({ path: `services.${name}`, message }));
  throw invalid('The owner of the account has not granted these services.', details, 'service_not_granted');
}

function accountOf(settings: SuiteSettings, row: ConnectionRow): Account {
  const { services: on, granted_scopes: granted } = suiteConfigOf(row);
  return {
    connection_id: row.id,
    name: row.name,
    status: row.status,
    account: row.account ?? {},
    services: [...settings.services].map(([name, scopes]) => ({
      name,
      scopes: [...scopes],
      granted: isGranted(scopes, granted),
      enabled: on.includes(name),
    })),
  };
}
