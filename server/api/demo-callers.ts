import type { ApiRequest } from './request.ts';

/**
 * Host names under which the demos may be called, and origins of pages that may call them. Pages of other sites are
 * refused, even if their name resolves to this server.
 */
export type DemoCallers = { hosts: readonly string[]; origins: readonly string[] };

const nameOf = (url: string): string | null => (URL.canParse(url) ? new URL(url).hostname : null);

/**
 * Returns why a request must not be answered (a page of another site, or a name that was made to resolve
 * to this machine), or null.
 */
export function foreignReason(header: ApiRequest['header'], { hosts, origins }: DemoCallers): string | null {
  const host = nameOf(`http://${header('host') ?? ''}`);
  if (host === null || !hosts.includes(host)) return 'The Host header does not name this service.';
  const origin = header('origin');
  if (origin === undefined || origins.includes(origin)) return null;
  const name = nameOf(origin);
  return name !== null && hosts.includes(name) ? null : 'The request did not come from an allowed origin.';
}
