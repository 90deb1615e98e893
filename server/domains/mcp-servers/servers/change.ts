import type { z } from 'zod';
import type { Context } from '../../../operation/context.ts';
import { conflict, forbidden, notFound } from '../../../platform/errors.ts';
import { requireScopes } from '../../identity/authority.ts';
import type { DeleteServerInput, PatchServerInput, ServerDetail } from '../schemas.ts';
import { acceptUrl } from './create.ts';
import { deleteServerRow, updateServer } from './store.ts';
import { describeServer, requireServer, requireServerDetail, serverKey } from './view.ts';

/**
 * Changes the given fields. Another `canonical_url` or `auth_mode` makes the server a draft again and deletes the
 * discovered tools, because the tools at the new address are unknown. Its versions stay; its instances cannot be called
 * until the next one is published. Throws AppError 403 for moving it with a token without `connection:manage`, and for another
 * address while other projects have instances of it, unless by a `tenant_admin`: the arguments of their runs would be
 * sent there. 404, 422 as for registering.
 */
export async function patchServer(
  ctx: Context,
  input: z.output<typeof PatchServerInput>,
): Promise<z.input<typeof ServerDetail>> {
  const { clock } = ctx.services;
  const { projectId, role } = ctx.principal;
  const server = await requireServer(ctx, input.id);
  // Its instances send the credentials of their connections to the new address once the next version is published.
  if (input.canonical_url !== undefined || input.auth_mode !== undefined) {
    requireScopes(ctx.principal, ['connection:manage']);
  }
  const canonicalUrl = input.canonical_url === undefined ? undefined : await acceptUrl(ctx, input.canonical_url);
  const { name, auth_mode: authMode } = input;
  const nothing = name === undefined && canonicalUrl === undefined && authMode === undefined;
  if (!nothing) {
    const movableBy = role === 'tenant_admin' ? ('everybody' as const) : { projectId };
    const key = { ...serverKey(ctx, server.id), at: new Date(clock.now()), movableBy };
    const outcome = await updateServer(ctx.services, key, { name, canonicalUrl, authMode });
    if (outcome === 'used_elsewhere') {
      const message = 'Other projects have instances of the server: only a tenant_admin changes its address.';
      throw forbidden(message, 'insufficient_role');
    }
    if (outcome === 'missing') throw notFound('MCP server');
  }
  return describeServer(ctx, await requireServerDetail(ctx, server.id));
}

/**
 * Deletes the server with its versions. Throws AppError 404; 409 `server_in_use` while it has instances, unless `force`; 403
 * if that would delete instances of other projects, unless by a `tenant_admin`.
 */
export async function deleteServer(ctx: Context, input: z.output<typeof DeleteServerInput>): Promise<undefined> {
  const { projectId, role } = ctx.principal;
  const everywhere = role === 'tenant_admin' ? 'everywhere' : { projectId };
  const outcome = await deleteServerRow(ctx.services, serverKey(ctx, input.id), input.force ? everywhere : 'none');
  if (outcome === 'used_elsewhere') {
    const message = 'Other projects have instances of the server: only a tenant_admin deletes them with it.';
    throw forbidden(message, 'insufficient_role');
  }
  if (outcome === 'missing') throw notFound('MCP server');
  if (outcome === 'in_use') {
    throw conflict('server_in_use', 'The server has instances. Delete them first, or repeat with force=true.');
  }
}
