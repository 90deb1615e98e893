import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Configuration, Provider } from 'oidc-provider';

export const oauthClientId = 'baton';
export const oauthClientSecret = 'client-secret-of-the-tests';

export type TestOauthServer = {
  issuer: string;
  /** The number of token requests so far, by grant type. */
  readonly requests: string[];
  /** The scopes of each access token so far. */
  readonly scopes: string[];
  /** Scopes that the owner of the account refuses to grant from now on. */
  refuse(scopes: readonly string[]): void;
  /** Answers the token endpoint with this status from now on; null: normally. */
  break(status: number | null): void;
  /** Blocks token requests from now on; `waiting` counts them, `release` lets them and all later ones continue. */
  hold(): { waiting(): number; release(): void };
  /** Revokes all grants. */
  revoke(): Promise<void>;
  /** Opens an authorization URL, signs in and consents; resolves to the parameters of the redirect back. */
  visit(authorizationUrl: string): Promise<Record<string, string>>;
  close(): Promise<void>;
};

/**
 * Starts a real authorization server: it requires PKCE, rotates refresh tokens and treats a reused one as stolen;
 * scopes `mail.read` and `calendar.read`.
 */
export async function startOauthServer(options: {
  redirectUri: string;
  account?: () => string;
}): Promise<TestOauthServer> {
  const server = createServer();
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const requests: string[] = [];
  const scopes: string[] = [];
  const grants = new Set<string>();
  let refused: readonly string[] = [];
  let broken: number | null = null;
  let held: (() => void)[] | null = null;
  const provider = new Provider(issuer, await configuration(options.redirectUri));
  const interact = async (...[request, response]: Parameters<ReturnType<Provider['callback']>>) => {
    const { prompt, params } = await provider.interactionDetails(request, response);
    const accountId = options.account?.() ?? 'ada';
    if (prompt.name === 'login') return provider.interactionFinished(request, response, { login: { accountId } });
    const grant = new provider.Grant({ accountId, clientId: oauthClientId });
    grant.addOIDCScope(
      String(params.scope)
        .split(' ')
        .filter(scope => !refused.includes(scope))
        .join(' '),
    );
    const rejected = refused.filter(scope => String(params.scope).includes(scope));
    if (rejected.length > 0) grant.rejectOIDCScope(rejected.join(' '));
    const grantId = await grant.save();
    grants.add(grantId);
    return provider.interactionFinished(request, response, { consent: { grantId } });
  };
  provider.on('grant.success', context => requests.push(String(context.oidc.params?.grant_type)));
  provider.on('access_token.saved', token => scopes.push(token.scope ?? ''));
  provider.on('grant.error', context => requests.push(`${String(context.oidc.params?.grant_type)} refused`));
  const callback = provider.callback();
  server.on('request', (request, response) => {
    if (request.url?.startsWith('/interaction/')) void interact(request, response);
    else if (broken !== null && request.url?.startsWith('/token')) response.writeHead(broken).end('out of order');
    else if (held !== null && request.url?.startsWith('/token')) held.push(() => void callback(request, response));
    else void callback(request, response);
  });
  return {
    issuer,
    requests,
    scopes,
    refuse: scopes => {
      refused = scopes;
    },
    break: status => {
      broken = status;
    },
    hold: () => {
      const waiting: (() => void)[] = [];
      held = waiting;
      const release = () => {
        held = null;
        for (const go of waiting) go();
      };
      return { waiting: () => waiting.length, release };
    },
    revoke: async () => {
      for (const id of grants) await (await provider.Grant.find(id))?.destroy();
      grants.clear();
    },
    visit: url => follow(url, options.redirectUri),
    close: async () => {
      server.closeAllConnections();
      await new Promise(resolve => server.close(resolve));
    },
  };
}

async function configuration(redirectUri: string): Promise<Configuration> {
  return {
    clients: [
      {
        client_id: oauthClientId,
        client_secret: oauthClientSecret,
        redirect_uris: [redirectUri],
        grant_types: ['authorization_code', 'refresh_token'],
        token_endpoint_auth_method: 'client_secret_post',
        id_token_signed_response_alg: 'ES256',
      },
    ],
    scopes: ['openid', 'offline_access', 'email', 'profile', 'mail.read', 'calendar.read'],
    claims: { openid: ['sub'], email: ['email'], profile: ['name'] },
    findAccount: (_, id) => ({
      accountId: id,
      claims: () => ({ sub: id, email: `${id}@example.com`, name: `Name of ${id}` }),
    }),
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_, interaction) => `/interaction/${interaction.uid}` },
    pkce: { required: () => true },
    rotateRefreshToken: true,
    ttl: { AccessToken: 3600, RefreshToken: 86_400, Grant: 86_400, Session: 3600, Interaction: 600, IdToken: 3600 },
    cookies: { keys: ['of the tests'] },
    jwks: { keys: [await signingKey()] },
  };
}

async function signingKey() {
  const { privateKey } = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, [
    'sign',
    'verify',
  ]);
  return { ...(await crypto.subtle.exportKey('jwk', privateKey)), use: 'sig', alg: 'ES256' };
}

/** Acts as a browser: keeps cookies and follows redirects, until one leads to `end`. */
async function follow(start: string, end: string): Promise<Record<string, string>> {
  const cookies = new Map<string, string>();
  let url = start;
  for (let hops = 0; hops < 12; hops++) {
    if (url.startsWith(end)) return Object.fromEntries(new URL(url).searchParams);
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(url, { redirect: 'manual', headers: { cookie } });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      cookies.set(name, value);
    }
    const location = response.headers.get('location');
    if (location === null) throw new Error(`${url} answered ${response.status}: ${await response.text()}`);
    url = new URL(location, url).href;
  }
  throw new Error('The authorization server redirects in circles.');
}
