import { cookies, headers } from 'next/headers';
import { cache } from 'react';
import type { Outputs } from '../../components/trpc/provider.tsx';
import { parseScope, SCOPE_COOKIE, scopeHeaders } from '../../components/trpc/scope.ts';
import { clientOf, container } from '../container.ts';
import { PATH_HEADER } from '../page-headers.ts';

type Me = Outputs['me_get'];

/** Sends a GET to our own API in this process, with the credentials of the browser that requests the page. */
export async function ask(path: string, extra: Record<string, string> = {}): Promise<Response> {
  const incoming = await headers();
  const request = new Request(`http://console.internal${path}`, {
    headers: { cookie: incoming.get('cookie') ?? '', ...extra },
  });
  const address = clientOf(new Request('http://console.internal/', { headers: new Headers(incoming) }));
  const { handle, handleTrpc } = container();
  return path.startsWith('/api/trpc/') ? handleTrpc(request, address) : handle(request, address);
}

/** Returns the search parameters of the page, for a layout, which does not receive them. */
export async function requestedParams(): Promise<URLSearchParams> {
  const path = (await headers()).get(PATH_HEADER) ?? '/';
  return new URL(path, 'http://console.internal').searchParams;
}

/**
 * Returns the scopes to try: the one in the URL (`?project=`, with `tenant=` for another workspace), then the last one
 * chosen in this browser.
 */
async function wantedScopes(): Promise<Record<string, string>[]> {
  const kept = parseScope((await cookies()).get(SCOPE_COOKIE)?.value);
  const params = await requestedParams();
  const project = params.get('project');
  const tenant = params.get('tenant') ?? kept?.tenant;
  const fromUrl: Record<string, string> = {
    ...(tenant ? { 'X-Tenant-Id': tenant } : {}),
    ...(project ? { 'X-Project-Id': project } : {}),
  };
  return [...(project ? [fromUrl] : []), ...(kept ? [scopeHeaders(kept)] : []), {}];
}

/** Thrown if the service refuses because of too many requests. */
export class TooManyRequests extends Error {}

/**
 * Returns the signed-in user, in the requested scope; null without a session, or if the session's access has ended. If a scope no longer
 * exists or is not the user's (403, 404, 422), tries the previous one, and then the user's first. Throws TooManyRequests. Cached for a page
 * and its layouts.
 */
export const loadMe = cache(async (): Promise<Me | null> => {
  let response = new Response(null, { status: 401 });
  for (const scope of await wantedScopes()) {
    response = await ask('/v1/me', scope);
    if (![403, 404, 422].includes(response.status)) break;
  }
  // 403 without a requested scope: the user no longer belongs to any workspace, and can only sign in as another user.
  if (response.status === 401 || response.status === 403) return null;
  if (response.status === 429) throw new TooManyRequests();
  if (!response.ok) throw new Error(`The service answered ${response.status}.`);
  return (await response.json()) as Me;
});

/** Returns the user for pages that work without a session. Over the limit it returns no user, and `limited` is true. */
export async function loadMeIfAny(): Promise<{ me: Me | null; limited: boolean }> {
  try {
    return { me: await loadMe(), limited: false };
  } catch (error) {
    if (error instanceof TooManyRequests) return { me: null, limited: true };
    throw error;
  }
}

/**
 * Returns the plan's status, for the notice on every page; null for viewers, who may not read it, if the deployment sells nothing, and if
 * it cannot be read now.
 */
export async function loadBillingStatus(me: Me): Promise<Outputs['billing_status'] | null> {
  if (me.role === 'project_viewer' || me.billing !== 'on') return null;
  const response = await ask('/v1/billing/status', scopeHeaders({ tenant: me.tenant.id, project: me.project.id }));
  return response.ok ? ((await response.json()) as Outputs['billing_status']) : null;
}

/** Returns true if visitors may create an account. */
export async function signUpOpen(): Promise<boolean> {
  const response = await ask('/v1/sign-up');
  if (!response.ok) return false;
  const status = (await response.json()) as Outputs['sign_up_status'];
  return status.open;
}

/** Returns true if the first owner does not exist yet (docs/specification/authentication.md#first-owner). */
export async function setupRequired(): Promise<boolean> {
  const response = await ask('/v1/setup');
  if (!response.ok) return false;
  const status = (await response.json()) as Outputs['setup_status'];
  return status.required;
}
