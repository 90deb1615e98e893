import type { z } from 'zod';
import type { Context } from '../../operation/context.ts';
import { conflict, invalid } from '../../platform/errors.ts';
import { NO_SECRET } from './document.ts';
import { connectionRef, requireConnection } from './get.ts';
import { withConnectionLock } from './lock-queries.ts';
import { impliedOrigins, maySend, originsOf, requireSecretsForOrigins } from './origins.ts';
import { requireManageable, requireSharing } from './ownership.ts';
import { type Connection, flowProviders, MAX_CREDENTIALS, type PatchConnectionInput } from './schemas.ts';
import type { ConnectionChange, ConnectionRow } from './store.ts';
import { change, readForWriting, replaceSecret } from './stored.ts';
import { usageOf } from './usage.ts';
import { toConnection } from './view.ts';

type Input = z.output<typeof PatchConnectionInput>;
type Values = Readonly<Record<string, string>>;

/**
 * PATCH /v1/connections/{id}. A secret that is not named stays unchanged, and is not read. Throws AppError 404; 403 for a
 * connection that is shared with the workspace, or for sharing it, unless by a `tenant_admin`; 409 `connection_in_use`
 * if other projects use a connection that would no longer be shared; 422 if no credential would be left, more than 32
 * would, the provider's own flow manages them, or another origin (`secret_required`) requires them to be entered again;
 * 503 when the secret store is unavailable.
 */
export async function patchConnection(ctx: Context, input: Input): Promise<z.input<typeof Connection>> {
  const { services } = ctx;
  // The connection's existence is checked before the body: another workspace's connection is always answered with 404.
  const current = await requireConnection(ctx, input.id);
  requireManageable(ctx, current);
  requireSharing(ctx, input.shared);
  const { display_name: name, credentials, config } = input;
  refuseManaged(current.provider, input);
  if (input.shared === false && current.projectId === null) await refuseUsedElsewhere(ctx, current);
  const { id: _, ...given } = input;
  if (Object.values(given).every(value => value === undefined)) return toConnection(current);
  await withConnectionLock(services, input.id, async () => {
    const row = await requireConnection(ctx, input.id);
    const origins = wantedOrigins(row, input);
    const changes = { name, config, origins, projectId: ownerAfter(ctx, input) };
    const further = origins?.some(origin => !row.origins.includes(origin)) === true;
    const stored = credentials || further ? await readForWriting(services, connectionRef(ctx, input.id)) : null;
    if (stored === null) {
      await change(services, row, changes);
      return;
    }
    const former = stored.document?.values ?? {};
    const values = mergeValues(former, credentials ?? {});
    const kept = keptSecrets(values, credentials ?? {});
    // A person may name the first origin of their own credentials, just as their first use would bind them
    // (origins.ts).
    const { row: present } = stored;
    const first = present.origins.length === 0 && present.secretSetBy === ctx.principal.userId;
    if (further && !first) requireSecretsForOrigins(present.origins, origins ?? [], kept);
    if (credentials === undefined) await change(services, present, changes);
    else await replaceSecret(services, stored, values, { ...changes, ...entered(ctx, present, kept) });
  });
  return toConnection(await requireConnection(ctx, input.id));
}

/** Returns the changes that follow from new secrets, given the names of those that stay (`kept`). */
function entered({ principal }: Context, row: ConnectionRow, kept: readonly string[]) {
  const isOwnSecret = kept.length === 0 || row.secretSetBy === principal.userId;
  const secretSetBy = isOwnSecret ? principal.userId : null;
  return { secretSetBy, status: 'active', lastError: null } satisfies ConnectionChange;
}

/** Returns the origins after the change; undefined: unchanged. A new base URL moves the binding with it. */
function wantedOrigins(row: ConnectionRow, { origins, config, credentials }: Input): string[] | undefined {
  if (origins !== undefined) return originsOf(origins);
  if (config === undefined || config.base_url === row.config.base_url) return undefined;
  const implied = impliedOrigins(row.provider, row.service, config);
  if (implied.every(origin => maySend(row.origins, origin))) return undefined;
  // Unbound credentials stay unbound: their first use binds them.
  return row.origins.length === 0 && credentials === undefined ? undefined : implied;
}

function ownerAfter({ principal }: Context, { shared }: Input): string | null | undefined {
  if (shared === undefined) return undefined;
  return shared ? null : principal.projectId;
}

/** Returns the names of secrets among `values` that are not entered with this change. */
function keptSecrets(values: Values, credentials: Readonly<Record<string, string | null>>): string[] {
  return Object.keys(values).filter(name => !Object.hasOwn(credentials, name) && values[name] !== NO_SECRET);
}

function mergeValues(former: Values, credentials: Readonly<Record<string, string | null>>): Record<string, string> {
  const entries = Object.entries({ ...former, ...credentials });
  const values = Object.fromEntries(entries.filter((entry): entry is [string, string] => entry[1] !== null));
  const count = Object.keys(values).length;
  if (count >= 1 && count <= MAX_CREDENTIALS) return values;
  throw invalid(`A connection has 1 to ${MAX_CREDENTIALS} credentials.`, [
    { path: 'credentials', message: `would leave ${count}` },
  ]);
}

/** Throws if other projects use the connection, which is about to become one project's. */
async function refuseUsedElsewhere(ctx: Context, { id, name }: ConnectionRow): Promise<void> {
  const { elsewhere } = await usageOf(ctx, id);
  if (elsewhere === 0) return;
  const message = `“${name}” is used in ${elsewhere} ${elsewhere === 1 ? 'place' : 'places'} of other projects.`;
  throw conflict('connection_in_use', message);
}

function refuseManaged(provider: string, { credentials, config }: Input): void {
  if (!flowProviders.includes(provider)) return;
  const details = Object.entries({ credentials, config }).flatMap(([path, value]) =>
    value === undefined ? [] : [{ path, message: 'is kept by the flow it was connected by' }],
  );
  if (details.length > 0)
    throw invalid(`This is a ${provider} connection: connect it again.`, details, 'connection_managed');
}
