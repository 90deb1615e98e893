import type { z } from 'zod';
import type { Context } from '../../../operation/context.ts';
import { AppError } from '../../../platform/errors.ts';
import { connectionRef } from '../../connections/get.ts';
import { findConnection } from '../../connections/store.ts';
import { type Binding, bindInstance } from '../calls/binding.ts';
import { type Check, checkLive, failed, liveChecks, notChecked, passed, report } from '../checks.ts';
import type { CheckReport, InstanceRef } from '../schemas.ts';
import { findProfile, type ProfileRow } from './profile-queries.ts';
import type { InstanceRow } from './queries.ts';
import { instanceKey, requireInstance } from './view.ts';

/**
 * Checks whether a step could call the instance now: a published version at the present address, a connection that
 * is active and fits, and the live server offering exactly this version with exactly these credentials and
 * headers. Throws AppError 404, 503.
 */
export async function validateInstance(
  ctx: Context,
  input: z.output<typeof InstanceRef>,
): Promise<z.input<typeof CheckReport>> {
  const instance = await requireInstance(ctx, input.id);
  const profile = await activeProfile(ctx, instance);
  const connectionId = profile?.connection_id ?? instance.connection_id;
  const checks = [checkVersion(instance), await checkConnection(ctx, instance, connectionId, profile)];
  const binding = await bindOrProblem(ctx, instance.id);
  if (!('tools' in binding)) {
    return report([...checks, binding, ...[...liveChecks, 'catalogue_current'].map(notChecked)]);
  }
  checks.push(passed('credentials_fit', 'The credentials match the server.'));
  return report([...checks, ...(await checkLive(ctx.services, binding, binding))]);
}

async function activeProfile(ctx: Context, instance: InstanceRow): Promise<ProfileRow | null> {
  if (instance.active_profile_id === null) return null;
  const key = { ...instanceKey(ctx, instance.id), profileId: instance.active_profile_id };
  return findProfile(ctx.services.pool, key);
}

function checkVersion(instance: InstanceRow): Check {
  const name = 'version_published';
  if (instance.effective_version === null || instance.server_status !== 'published') {
    return failed(name, `“${instance.server_name}” has no version that is published at its current address.`);
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
  const connection = await findConnection(ctx.services.prisma, connectionRef(ctx, connectionId));
  if (connection === null) return failed(name, 'The connection no longer exists.');
  const from = profile?.connection_id == null ? 'bound to the instance' : `bound by the profile “${profile.name}”`;
  return connection.status === 'active'
    ? passed(name, `“${connection.name}”, ${from}, is active.`)
    : failed(name, `“${connection.name}”, ${from}, is ${connection.status}: it has to be connected again.`);
}

/** Binds the instance as a step would. A failure is reported by `credentials_fit`, or by an earlier check. */
async function bindOrProblem(ctx: Context, instanceId: string): Promise<Binding | Check> {
  const { tenantId, projectId } = ctx.principal;
  try {
    return await bindInstance(ctx.services, { tenantId, projectId, instanceId });
  } catch (error) {
    if (!(error instanceof AppError) || error.status !== 409) throw error;
    return error.code === 'mcp_server_not_published'
      ? notChecked('credentials_fit')
      : failed('credentials_fit', error.message);
  }
}
