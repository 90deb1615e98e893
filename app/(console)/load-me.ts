import { cookies, headers } from 'next/headers';
import { clientOf, container } from '@/app/container.ts';
import type { Outputs } from '@/components/trpc/provider.tsx';
import { parseScope, SCOPE_COOKIE, scopeHeaders } from '@/components/trpc/scope.ts';

type Me = Outputs['me_get'];

/** GET of our own API in this process, as the browser that asks for the page. */
async function ask(path: string, extra: Record<string, string> = {}): Promise<Response> {
  const incoming = await headers();
  const request = new Request(`http://console.internal${path}`, {
    headers: { cookie: incoming.get('cookie') ?? '', ...extra },
  });
  const address = clientOf(new Request('http://console.internal/', { headers: new Headers(incoming) }));
  return container().handle(request, address);
}

/**
 * Who is signed in, in the scope this browser chose last; null without a session. A scope that is gone or no longer the
 * user's (403, 404) falls back to the user's first.
 */
export async function loadMe(): Promise<Me | null> {
  const scope = parseScope((await cookies()).get(SCOPE_COOKIE)?.value);
  let response = await ask('/v1/me', scope ? scopeHeaders(scope) : {});
  if (scope && (response.status === 403 || response.status === 404)) response = await ask('/v1/me');
  if (response.status === 401) return null;
  if (!response.ok) throw new Error(`The service answered ${response.status}.`);
  return (await response.json()) as Me;
}

/** Whether the first owner is still to be made (decisions.md, First start). */
export async function setupRequired(): Promise<boolean> {
  const response = await ask('/v1/setup');
  if (!response.ok) return false;
  const status = (await response.json()) as Outputs['setup_status'];
  return status.required;
}
