import type { z } from 'zod';
import type { Context } from '../../../operation/context.ts';
import { conflict, invalid } from '../../../platform/errors.ts';
import { readLive } from '../live.ts';
import type { ServerDetail, WithConnection } from '../schemas.ts';
import { accessTo } from './access.ts';
import { saveDiscovery } from './store.ts';
import { describeServer, requireServer, requireServerDetail, serverKey } from './view.ts';

/**
 * Reads the tools of the live server and stores them for the next version. Throws AppError 404, 422 `discovery_failed`
 * with the reason in `details` (also in `last_error`; tools found before stay), 409 `server_changed` if its
 * address changed meanwhile.
 */
export async function discoverServer(
  ctx: Context,
  input: z.output<typeof WithConnection>,
): Promise<z.input<typeof ServerDetail>> {
  const { prisma, clock } = ctx.services;
  const server = await requireServer(ctx, input.id);
  const access = await accessTo(ctx, server, input.connection_id);
  const live = await readLive(ctx.services, access);
  const discovery = {
    ...serverKey(ctx, server.id),
    canonicalUrl: server.canonicalUrl,
    authMode: server.authMode,
    at: new Date(clock.now()),
  };
  const found = live.ok
    ? { tools: live.tools, server_info: live.info, warnings: live.warnings }
    : { failure: live.failure.message };
  const saved = await saveDiscovery(prisma, discovery, found);
  if (!live.ok) {
    const { code, message } = live.failure;
    const hint = code === 'mcp_unauthorized' && input.connection_id === undefined ? ' Choose a connection.' : '';
    throw invalid(
      `Discovery failed: ${message}${hint}`,
      [{ path: 'canonical_url', message, code }],
      'discovery_failed',
    );
  }
  if (!saved) throw conflict('server_changed', 'The server was changed during the discovery. Discover again.');
  return describeServer(ctx, await requireServerDetail(ctx, server.id));
}
