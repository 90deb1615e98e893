import type { z } from 'zod';
import type { Context } from '../../../api/context.ts';
import { AppError } from '../../../platform/errors.ts';
import { type Check, checkLive, failed, liveChecks, notChecked, passed, report } from '../checks.ts';
import type { Access } from '../live.ts';
import type { CheckReport, InstanceRef } from '../schemas.ts';
import { accessTo } from '../servers/access.ts';
import { findServerVersion } from '../servers/version-store.ts';
import { requireServer, serverKey } from '../servers/view.ts';
import { findProfile, type ProfileRow } from './profile-store.ts';
import { effectiveSettings } from './settings.ts';
import { findConnection, type InstanceRow } from './store.ts';
import { instanceKey, requireInstance } from './view.ts';

/**
 * Whether a step could call the instance now: a published version at the present address, a connection that is active and fits,
 * and the live server with just these credentials and headers, offering just this version. AppError 404, 503.
 */
export async function validateInstance(
  ctx: Context,
  input: z.output<typeof InstanceRef>,
): Promise<z.input<typeof CheckReport>> {
  const instance = await requireInstance(ctx, input.id);
  const profile = await activeProfile(ctx, instance);
  const checks = [checkVersion(instance)];
  const connectionId = profile?.connection_id ?? instance.connection_id;
  checks.push(await checkConnection(ctx, instance, connectionId, profile));
  const access = await accessOf(ctx, instance, connectionId, profile);
  if ('problem' in access) {
    return report([...checks, failed('credentials_fit', access.problem), ...liveChecks.map(notChecked)]);
  }
  checks.push(passed('credentials_fit', 'What is sent fits the server.'));
  const { effective_version: version, server_id } = instance;
  const published =
    version === null ? null : await findServerVersion(ctx.services.pool, serverKey(ctx, server_id), version);
  return report([...checks, ...(await checkLive(ctx.services, access, published))]);
}

async function activeProfile(ctx: Context, instance: InstanceRow): Promise<ProfileRow | null> {
  if (instance.active_profile_id === null) return null;
  const key = { ...instanceKey(ctx, instance.id), profileId: instance.active_profile_id };
  return findProfile(ctx.services.pool, key);
}

function checkVersion(instance: InstanceRow): Check {
  const name = 'version_published';
  if (instance.effective_version === null || instance.server_status !== 'published') {
    return failed(name, `“${instance.server_name}” has no version that is published at its present address.`);
  }
  const pinned = instance.version === null ? 'the latest' : 'pinned';
  return passed(name, `Version ${instance.effective_version} (${pinned}) of “${instance.server_name}”.`);
}

async function checkConnection(
  ctx: Context,
  instance: InstanceRow,
  connectionId: string | null,
  profile: ProfileRow | null,
): Promise<Check> {
  const name = 'connection_active';
  if (connectionId === null) {
    return instance.auth_mode === 'none'
      ? passed(name, 'The server takes no credentials.')
      : failed(name, 'The server needs credentials, and no connection is bound.');
  }
  const connection = await findConnection(ctx.services.pool, ctx.principal.tenantId, connectionId);
  if (connection === null) return failed(name, 'The connection is gone.');
  const from = profile?.connection_id == null ? 'bound to the instance' : `bound by the profile “${profile.name}”`;
  return connection.status === 'active'
    ? passed(name, `“${connection.name}”, ${from}, is active.`)
    : failed(name, `“${connection.name}”, ${from}, is ${connection.status}: it has to be connected again.`);
}

async function accessOf(
  ctx: Context,
  instance: InstanceRow,
  connectionId: string | null,
  profile: ProfileRow | null,
): Promise<Access | { problem: string }> {
  const { headers } = effectiveSettings(instance.config, profile?.settings ?? null);
  const server = await requireServer(ctx, instance.server_id);
  try {
    const access = await accessTo(ctx, server, connectionId ?? undefined);
    return { ...access, headers: mergeHeaders(headers, access.headers) };
  } catch (error) {
    if (error instanceof AppError && (error.status === 422 || error.status === 409)) return { problem: error.message };
    throw error;
  }
}

/** Credentials win over settings, whatever the case of their names. */
export function mergeHeaders(
  settings: Readonly<Record<string, string>>,
  credentials: Readonly<Record<string, string>>,
): Record<string, string> {
  const taken = new Set(Object.keys(credentials).map(name => name.toLowerCase()));
  const kept = Object.entries(settings).filter(([name]) => !taken.has(name.toLowerCase()));
  return { ...Object.fromEntries(kept), ...credentials };
}
