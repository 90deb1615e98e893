import type { z } from 'zod';
import type { Context } from '../../../operation/context.ts';
import { invalid } from '../../../platform/errors.ts';
import { loadCredentials } from '../../connections/credentials.ts';
import { connectionRef } from '../../connections/get.ts';
import { requireOrBindOrigin } from '../../connections/origins.ts';
import { findConnection } from '../../connections/store.ts';
import { requireScopes } from '../../identity/authority.ts';
import { credentialHeaders } from '../credential-headers.ts';
import { unknownConnection } from '../instances/view.ts';
import type { Access } from '../live.ts';
import type { AuthMode } from '../schemas.ts';

type Server = { canonicalUrl: string; authMode: z.output<typeof AuthMode> };

/**
 * Returns how to call a server with a connection of the caller's own workspace, or without credentials if no connection
 * is given. Throws AppError 403 for a token without `connection:manage`, 422 `unknown_connection` or `unfit_connection` (it
 * has nothing that this auth_mode can send), 409 and 503 as in loadCredentials.
 */
export async function accessTo(ctx: Context, server: Server, connectionId: string | undefined): Promise<Access> {
  const url = server.canonicalUrl;
  const anonymous: Access = { url, headers: {}, secrets: [], fetch: ctx.services.egress.fetch };
  if (connectionId === undefined) return anonymous;
  requireScopes(ctx.principal, ['connection:manage']);
  const row = await findConnection(ctx.services.prisma, connectionRef(ctx, connectionId));
  if (row === null) throw unknownConnection();
  if (server.authMode === 'none') return anonymous;
  await requireOrBindOrigin(ctx, row, url);
  const credentials = await loadCredentials(ctx.services, connectionRef(ctx, connectionId), url);
  if (credentials === null) throw unknownConnection();
  const made = credentialHeaders(server.authMode, credentials.values);
  const { values, fetch } = credentials;
  if ('headers' in made) return { url, headers: made.headers, secrets: Object.values(values), fetch };
  const detail = { path: 'connection_id', message: made.problem, code: 'unfit_connection' };
  const message = `The connection does not match a server with auth_mode “${server.authMode}”. ${made.problem}`;
  throw invalid(message, [detail], 'unfit_connection');
}
