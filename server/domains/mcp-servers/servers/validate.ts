import type { z } from 'zod';
import type { Context } from '../../../operation/context.ts';
import { AppError, notFound } from '../../../platform/errors.ts';
import { connectionRef } from '../../connections/get.ts';
import { findConnection } from '../../connections/store.ts';
import { checkLive, failed, notChecked, passed, report } from '../checks.ts';
import type { CheckReport, ValidateConnectionInput, WithConnection } from '../schemas.ts';
import { accessTo } from './access.ts';
import { latestVersion, requireServer } from './view.ts';

type Report = z.input<typeof CheckReport>;

/**
 * Checks whether the server can be used as it is published: address, protocol, credentials, tools, and whether the
 * tools have changed since. Problems of the server are in the checks. Throws AppError 404, 422 `unknown_connection` or
 * `unfit_connection`.
 */
export async function validateServer(ctx: Context, input: z.output<typeof WithConnection>): Promise<Report> {
  const server = await requireServer(ctx, input.id);
  const access = await accessTo(ctx, server, input.connection_id);
  return report(await checkLive(ctx.services, access, await latestVersion(ctx, server)));
}

/**
 * Does the same with one connection, after checking whether it is active and fits the server's `auth_mode`. AppError
 * 404 if either does not exist.
 */
export async function validateConnection(
  ctx: Context,
  input: z.output<typeof ValidateConnectionInput>,
): Promise<Report> {
  const { services } = ctx;
  const server = await requireServer(ctx, input.id);
  const connection = await findConnection(services.prisma, connectionRef(ctx, input.connection_id));
  if (connection === null) throw notFound('Connection');
  const active =
    connection.status === 'active'
      ? passed('connection_active', `“${connection.name}” is active.`)
      : failed('connection_active', `“${connection.name}” is ${connection.status}: it has to be connected again.`);
  try {
    const access = await accessTo(ctx, server, input.connection_id);
    const fits = passed('credentials_fit', describeMode(server.authMode));
    return report([active, fits, ...(await checkLive(services, access, await latestVersion(ctx, server)))]);
  } catch (error) {
    // 422: the credentials do not match; 409: the connection has expired. Both are results of the check.
    if (!(error instanceof AppError) || (error.status !== 422 && error.status !== 409)) throw error;
    return report([
      active,
      failed('credentials_fit', error.message),
      notChecked('reachable'),
      notChecked('authentication'),
    ]);
  }
}

function describeMode(mode: string): string {
  switch (mode) {
    case 'none':
      return 'The server takes no credentials; none are sent.';
    case 'header':
      return 'Each credential is sent as the header of its name.';
    default:
      return 'Its token is sent as a bearer token.';
  }
}
