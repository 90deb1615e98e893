import { returnPath } from '../../../../components/auth/return-path.ts';
import type { ConsoleIdentity } from '../../../../server/domains/identity/console.ts';
import { readFlowCookie, refusedSignOn, signedOn, toIssuer } from './answers.ts';

const isHttps = ({ url }: ConsoleIdentity) => url.startsWith('https://');

/** GET /api/auth/oidc/start?next=…: sends the browser to the issuer. 404 without OpenID Connect. */
export function startSignOn(identity: ConsoleIdentity, request: Request): Promise<Response> {
  const next = returnPath(new URL(request.url).searchParams.get('next') ?? undefined);
  return answered(identity, async signOn => {
    const begun = await signOn.begin(next);
    return 'refused' in begun ? refusedSignOn(begun.refused, isHttps(identity)) : toIssuer(begun, isHttps(identity));
  });
}

/** GET /api/auth/oidc/callback: the issuer sent the browser back. */
export function finishSignOn(
  identity: ConsoleIdentity,
  request: Request,
  { address }: { address: string },
): Promise<Response> {
  const https = isHttps(identity);
  const { searchParams: params } = new URL(request.url);
  return answered(identity, async signOn => {
    const finished = await signOn.finish({ cookie: readFlowCookie(request, https), params, address });
    if ('refused' in finished) return refusedSignOn(finished.refused, https);
    return signedOn(finished, { url: identity.url, secret: identity.sessionSecret });
  });
}

async function answered(
  identity: ConsoleIdentity,
  answer: (signOn: NonNullable<ConsoleIdentity['signOn']>) => Promise<Response>,
): Promise<Response> {
  if (identity.signOn === null) return Response.json({ error: 'Route not found.', code: 'not_found' }, { status: 404 });
  try {
    return await answer(identity.signOn);
  } catch (error) {
    // The class of an AppError cannot be imported here (app/container.ts says why).
    const { status } = (error ?? {}) as { status?: unknown };
    if (status === 429) return refusedSignOn('rate_limited', isHttps(identity));
    identity.report('error', 'sign_on_failed');
    return refusedSignOn('sign_on_unavailable', isHttps(identity));
  }
}
