import type { z } from 'zod';
import type { Context } from '../../../api/context.ts';
import type { PlatformCatalogOutput } from '../schemas.ts';
import { platformAdapters } from './platform-adapters.ts';
import { serversByUrl } from './store.ts';

/** What can be registered with one click, and what of it the workspace has registered already. */
export async function platformCatalog({
  principal,
  services,
}: Context): Promise<z.input<typeof PlatformCatalogOutput>> {
  const urls = platformAdapters.map(adapter => adapter.canonical_url);
  const registered = await serversByUrl(services.pool, principal.tenantId, urls);
  const adapters = platformAdapters.map(adapter => {
    const server_id = registered.get(adapter.canonical_url) ?? null;
    return { ...adapter, registered: server_id !== null, server_id };
  });
  return { adapters };
}
