import { cookies, headers } from 'next/headers';
import { cache } from 'react';
import type { Outputs } from '../../components/trpc/provider.tsx';
import { parseScope, SCOPE_COOKIE, scopeHeaders } from '../../components/trpc/scope.ts';
import { clientOf, container } from '../container.ts';
import { PATH_HEADER } from '../page-headers.ts';

type Me = Outputs['me_get'];

/** GET of our own API in this process, as the browser that asks for the page. */
export async function ask(path: string, extra: Record<string, string> = {}): Promise<Response> {
  const incoming = await headers();
  const request = new Request(`http://console.internal${path}`, {
    headers: { cookie: incoming.get('cookie') ?? '', ...extra },
  });
  const address = clientOf(new Request('http://console.internal/', { headers: new Headers(incoming) }));
  const { handle, handleTrpc } = container();
  return path.startsWith('/api/trpc/') ? handleTrpc(request, address) : handle(request, address);
}

/** The search parameters of the page, for what is not told them: a layout. */
export async function requestedParams(): Promise<URLSearchParams> {
  const path = (await headers()).get(PATH_HEADER) ?? '/';
  return new URL(path, 'http://console.internal').searchParams;
}

/** The scope a link asks for (`?project=`, with `tenant=` where it is another one), else the one this browser chose last. */
async function wantedScopes(): Promise<Record<string, string>[]> {
  const kept = parseScope((await cookies()).get(SCOPE_COOKIE)?.value);
  const params = await requestedParams();
  const project = params.get('project');
  const tenant = params.get('tenant') ?? kept?.tenant;
  const asked: Record<string, string> = {
    ...(tenant ? { 'X-Tenant-Id': tenant } : {}),
    ...(project ? { 'X-Project-Id': project } : {}),
  };
  return [...(project ? [asked] : []), ...(kept ? [scopeHeaders(kept)] : []), {}];
}

/** Thrown where the service refuses to answer because there were too many requests. */
export class TooManyRequests extends Error {}

/**
 * Returns the signed-in user, in the requested scope; null without a session, or with a session whose access has ended.
 * A scope that no longer exists or is not the user's (403, 404, 422) falls back to the previous one, and then to the
 * user's first. Throws TooManyRequests. Read once for a page and its layouts.
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

/** The same for pages that work without a session: over the limit it returns no user, and `limited` is true. */
export async function loadMeIfAny(): Promise<{ me: Me | null; limited: boolean }> {
  try {
    return { me: await loadMe(), limited: false };
  } catch (error) {
    if (error instanceof TooManyRequests) return { me: null, limited: true };
    throw error;
  }
}

/**
 * Returns the plan's status, for the notice on every page; null for viewers, who may not read it, where
 * nothing is sold, and if it cannot be read now.
 */
export async function loadBillingStatus(me: Me): Promise<Outputs['billing_status'] | null> {
  if (me.role === 'project_viewer' || me.billing !== 'on') return null;
  const response = await ask('/v1/billing/status', scopeHeaders({ tenant: me.tenant.id, project: me.project.id }));
  return response.ok ? ((await response.json()) as Outputs['billing_status']) : null;
}

/** Whether visitors may create an account. */
export async function signUpOpen(): Promise<boolean> {
  const response = await ask('/v1/sign-up');
  if (!response.ok) return false;
  const status = (await response.json()) as Outputs['sign_up_status'];
  return status.open;
}

/** Whether the first owner is still to be made (docs/specification/authentication.md#first-owner). */
export async function setupRequired(): Promise<boolean> {
  const response = await ask('/v1/setup');
  if (!response.ok) return false;
  const status = (await response.json()) as Outputs['setup_status'];
  return status.required;
}
