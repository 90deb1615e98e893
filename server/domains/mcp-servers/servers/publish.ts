import type { z } from 'zod';
import type { Context } from '../../../operation/context.ts';
import { conflict, notFound } from '../../../platform/errors.ts';
import { catalogChecksum } from '../catalog/diff.ts';
import type { PublishServerInput, Version } from '../schemas.ts';
import { findServerVersion, insertServerVersion } from './version-queries.ts';
import { describeVersion, latestVersion, requireServerDetail, serverKey } from './view.ts';

/** Concurrent callers may discover or publish; the next try then publishes the present tools. */
const MAX_TRIES = 5;

/**
 * Publishes the tools of the last discovery as the next version, which never changes. Throws AppError 404; 409
 * `not_discovered`; 409 `nothing_changed` if the latest version has the same tools. (A server that was moved and is a
 * draft again still gets a new version, which states that the tools are the same at the new address.)
 */
export async function publishServer(
  ctx: Context,
  input: z.output<typeof PublishServerInput>,
): Promise<z.input<typeof Version>> {
  const { pool, clock } = ctx.services;
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const server = await requireServerDetail(ctx, input.id);
    if (server.discovered === null || server.discoveredAt === null) {
      throw conflict('not_discovered', 'Discover the tools of the server first.');
    }
    const checksum = catalogChecksum(server.discovered.tools);
    const previous = await latestVersion(ctx, server);
    if (previous?.checksum === checksum && server.status === 'published') {
      throw conflict('nothing_changed', `Version ${previous.version} already has the same tools.`);
    }
    const key = serverKey(ctx, server.id);
    const ref = { ...key, previous: server.latestVersion, discoveredAt: server.discoveredAt };
    const by = ctx.principal.userId;
    const at = new Date(clock.now());
    if (await insertServerVersion(pool, ref, { changelog: input.changelog ?? '', checksum, by, at })) {
      const row = await findServerVersion(pool, key, (server.latestVersion ?? 0) + 1);
      if (row === null) throw notFound('MCP server');
      return describeVersion(ctx, row);
    }
  }
  throw conflict(
    'server_changed',
    'The server changed while it was being published. Publish again when nobody is editing it.',
  );
}
