import type { z } from 'zod';
import type { Context } from '../../../operation/context.ts';
import { egressRefusal } from '../../../platform/egress/egress.ts';
import { conflict, invalid } from '../../../platform/errors.ts';
import { newId } from '../../../platform/ids.ts';
import { type CreateServerInput, limits, type Server } from '../schemas.ts';
import { parseCanonicalUrl } from './canonical-url.ts';
import { insertServer } from './queries.ts';
import { freeSlug, serviceSlug } from './service-slug.ts';
import { findServer, takenServices } from './store.ts';
import { toServer } from './view.ts';

/** Concurrent registrations of one name compete for its slug; the losers then try the next slug. */
const MAX_TRIES = 10;

/**
 * Registers a server as a draft; it is not called yet. Throws AppError 422 `invalid_url`, `egress_refused` (an address that may not
 * be called) or `limit_reached`.
 */
export async function createServer(
  ctx: Context,
  input: z.output<typeof CreateServerInput>,
): Promise<z.input<typeof Server>> {
  const { pool, prisma, clock } = ctx.services;
  const { tenantId, userId } = ctx.principal;
  const canonicalUrl = await acceptUrl(ctx, input.canonical_url);
  const slug = serviceSlug(input.name);
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const id = newId();
    const outcome = await insertServer(pool, {
      id,
      tenantId,
      name: input.name,
      service: freeSlug(slug, await takenServices(prisma, tenantId, slug)),
      canonicalUrl,
      mode: input.mode,
      authMode: input.auth_mode,
      createdBy: userId,
      at: new Date(clock.now()),
    });
    if (outcome === 'full')
      throw invalid(`A workspace has at most ${limits.serversPerTenant} MCP servers.`, [], 'limit_reached');
    const row = outcome === 'inserted' ? await findServer(prisma, { tenantId, id }) : null;
    if (row !== null) return toServer(row);
  }
  throw conflict('name_taken', 'Too many servers are being registered under this name. Try again.');
}

/**
 * Returns the address in its canonical form if Baton may call it. Throws AppError 422 otherwise. A name that does not resolve
 * now is accepted; discovery will report it.
 */
export async function acceptUrl(ctx: Context, text: string): Promise<string> {
  const url = parseCanonicalUrl(text);
  const refused = await egressRefusal(ctx.services.egress, url);
  if (refused !== null) {
    const { message, code } = refused;
    throw invalid('This address may not be called.', [{ path: 'canonical_url', message, code }], code);
  }
  return url;
}
