import { z } from 'zod';
import type { Context } from '../../../operation/context.ts';
import { cutPage, decodeCursor } from '../../../operation/cursor.ts';
import { demoMcpUrl } from '../../../operation/demo-mcp.ts';
import type { PlatformCatalogInput, PlatformCatalogOutput } from '../schemas.ts';
import { parseCanonicalUrl } from '../servers/canonical-url.ts';
import { serversByUrl } from '../servers/store.ts';
import { type Adapter, platformAdapters } from './platform-adapters.ts';

/** The key of the last adapter of a page; if that adapter is no longer offered, the list starts again. */
const AdapterCursor = z.tuple([z.string().max(100)]);

/** Lists the servers that can be registered with one click, and those that the workspace has already registered. */
export async function platformCatalog(
  { principal, services }: Context,
  { limit, cursor }: z.output<typeof PlatformCatalogInput>,
): Promise<z.input<typeof PlatformCatalogOutput>> {
  const all = adaptersOf(services);
  const after = decodeCursor(AdapterCursor, cursor);
  const start = after === null ? 0 : all.findIndex(({ key }) => key === after[0]) + 1;
  const { rows: offered, next_cursor } = cutPage(all.slice(start, start + limit + 1), limit, ({ key }) => [key]);
  const urls = offered.map(adapter => adapter.canonical_url);
  const registered = await serversByUrl(services.prisma, principal.tenantId, urls);
  const adapters = offered.map(adapter => {
    const server_id = registered.get(adapter.canonical_url) ?? null;
    return { ...adapter, registered: server_id !== null, server_id };
  });
  return { adapters, next_cursor };
}

/** Returns the server that comes with Baton, if it is enabled, followed by the public ones. */
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
