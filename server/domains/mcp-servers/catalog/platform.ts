import type { z } from 'zod';
import type { Context } from '../../../api/context.ts';
import { demoMcpUrl } from '../../../demo-mcp/address.ts';
import type { PlatformCatalogOutput } from '../schemas.ts';
import { parseCanonicalUrl } from '../servers/canonical-url.ts';
import { type Adapter, platformAdapters } from './platform-adapters.ts';
import { serversByUrl } from './store.ts';

/** What can be registered with one click, and what of it the workspace has registered already. */
export async function platformCatalog({
  principal,
  services,
}: Context): Promise<z.input<typeof PlatformCatalogOutput>> {
  const offered = adaptersOf(services);
  const urls = offered.map(adapter => adapter.canonical_url);
  const registered = await serversByUrl(services.pool, principal.tenantId, urls);
  const adapters = offered.map(adapter => {
    const server_id = registered.get(adapter.canonical_url) ?? null;
    return { ...adapter, registered: server_id !== null, server_id };
  });
  return { adapters };
}

/** The server that comes with Baton, where it is enabled, before those of others. */
function adaptersOf({ config }: Context['services']): readonly (Omit<Adapter, 'documentation_url'> & {
  documentation_url: string | null;
})[] {
  if (!config.demoMcp) return platformAdapters;
  const demo = {
    key: 'baton-demo',
    name: 'Baton demo',
    description:
      'Comes with this Baton, to try workflows with: exchange rates, invoices, a slow tool and one that fails.',
    canonical_url: parseCanonicalUrl(demoMcpUrl(config.http)),
    auth_mode: 'none',
    documentation_url: null,
  } as const;
  return [demo, ...platformAdapters];
}
