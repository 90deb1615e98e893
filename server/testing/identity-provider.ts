import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Configuration, Provider } from 'oidc-provider';

export const signOnClientId = 'baton-sign-on';
export const signOnClientSecret = 'sign-on-secret-of-the-tests';

type Json = Record<string, unknown>;
export type TestPerson = { sub: string; email?: string; email_verified?: unknown; name?: string } & Json;
type Signer = (header: Json, claims: Json) => Promise<string>;

export type IdentityProvider = {
  issuer: string;
  /** The person who signs in from now on. */
  person: TestPerson;
  /** The subjects that were removed at the provider. */
  readonly removed: Set<string>;
  /** Changes the answers of the token endpoint from now on; null: they are the real ones. */
  tamper: ((answer: Json, sign: { real: Signer; stranger: Signer }) => Promise<Json> | Json) | null;
  /** Changes the metadata from now on; null: they are the real ones. */
  tamperMetadata: ((metadata: Json) => Json) | null;
  /** The parameters of the authorization requests so far. */
  readonly requests: URLSearchParams[];
  /** Opens an address like a new browser, signs in, and returns the address of the redirect back. */
  visit(url: string): Promise<URL>;
  close(): Promise<void>;
};

/** Starts a real OpenID provider (`oidc-provider`), which can be made to lie. Its ID tokens have all claims unless `userinfo`. */
export async function startIdentityProvider(options: {
  redirectUri: string;
  signedOutUri: string;
  userinfo?: boolean;
  port?: number;
}): Promise<IdentityProvider> {
  const server = createServer();
  await new Promise<void>(resolve => server.listen(options.port ?? 0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const [real, stranger] = [await newKey(), await newKey()];
  const requests: URLSearchParams[] = [];
  const given: IdentityProvider = {
    issuer,
    person: { sub: 'ada', email: 'ada@example.com', email_verified: true, name: 'Ada' },
    removed: new Set(),
    tamper: null,
    tamperMetadata: null,
    requests,
    visit: url => follow(url, options.redirectUri),
    close: async () => {
      server.closeAllConnections();
      await new Promise(resolve => server.close(resolve));
    },
  };
  const provider = new Provider(issuer, configuration(given, options, real.jwk));
  const callback = provider.callback();
  server.on('request', (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', issuer);
    if (pathname === '/auth') requests.push(searchParams);
    const { tamper, tamperMetadata } = given;
    if (pathname === '/token' && tamper !== null)
      rewrite(response, answer => tamper(answer, { real: real.sign, stranger: stranger.sign }));
    if (pathname.startsWith('/.well-known/') && tamperMetadata !== null) rewrite(response, tamperMetadata);
    if (pathname.startsWith('/interaction/')) void interact(provider, given, request, response);
    else void callback(request, response);
  });
  return given;
}

/** Changes the body of an answer when it is sent. */
function rewrite(response: import('node:http').ServerResponse, change: (answer: Json) => Promise<Json> | Json): void {
  const end = response.end.bind(response);
  Reflect.set(response, 'end', (body: string | Buffer) => {
    void Promise.resolve(change(JSON.parse(String(body)))).then(changed => {
      const text = JSON.stringify(changed);
      response.setHeader('content-length', Buffer.byteLength(text));
      end(text);
    });
  });
}

async function interact(
  provider: Provider,
  { person }: IdentityProvider,
  ...[request, response]: Parameters<ReturnType<Provider['callback']>>
): Promise<void> {
  const { prompt, params } = await provider.interactionDetails(request, response);
  const accountId = person.sub;
  if (prompt.name === 'login') return provider.interactionFinished(request, response, { login: { accountId } });
  const grant = new provider.Grant({ accountId, clientId: signOnClientId });
  grant.addOIDCScope(String(params.scope));
  return provider.interactionFinished(request, response, { consent: { grantId: await grant.save() } });
}

function configuration(
  given: IdentityProvider,
  { redirectUri, signedOutUri, userinfo = false }: { redirectUri: string; signedOutUri: string; userinfo?: boolean },
  jwk: Json,
): Configuration {
  return {
    clients: [
      {
        client_id: signOnClientId,
        client_secret: signOnClientSecret,
        redirect_uris: [redirectUri],
        post_logout_redirect_uris: [signedOutUri],
        grant_types: ['authorization_code', 'refresh_token'],
        token_endpoint_auth_method: 'client_secret_post',
        id_token_signed_response_alg: 'ES256',
      },
    ],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name', 'groups', '_claim_names'] },
    conformIdTokenClaims: userinfo,
    findAccount: (_, id) =>
      given.removed.has(id) ? undefined : { accountId: id, claims: () => ({ ...given.person, sub: id }) },
    // Without consent at each sign-in, as most providers do.
    issueRefreshToken: async (_, client) => client.grantTypeAllowed('refresh_token'),
    rotateRefreshToken: true,
    features: {
      devInteractions: { enabled: false },
      rpInitiatedLogout: {
        enabled: true,
        // Signs out without asking again, so that a plain redirect ends at the client.
        logoutSource: (context, form) => {
          const button = '<button name="logout" value="yes" form="op.logoutForm">Sign out there</button>';
          context.body = `<!DOCTYPE html><html lang="en"><title>Sign out</title><main>${form}${button}</main></html>`;
        },
      },
    },
    interactions: { url: (_, interaction) => `/interaction/${interaction.uid}` },
    pkce: { required: () => true },
    ttl: { AccessToken: 3600, RefreshToken: 86_400, Grant: 86_400, Session: 3600, Interaction: 600, IdToken: 3600 },
    cookies: { keys: ['of the tests'] },
    jwks: { keys: [jwk] } as NonNullable<Configuration['jwks']>,
  };
}

async function newKey(): Promise<{ jwk: Json; sign: Signer }> {
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256' };
  const { privateKey } = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  // Without `key_ops`: the provider would publish "sign" with the public key, and no client verifies with such a key.
  const { key_ops: _, ...exported } = await crypto.subtle.exportKey('jwk', privateKey);
  const jwk = { ...exported, use: 'sig', alg: 'ES256', kid: 'of-the-tests' };
  const sign = async (header: Json, claims: Json) => {
    const text = `${encode(header)}.${encode(claims)}`;
    const bytes = await crypto.subtle.sign({ name: 'ECDSA', hash: 'SHA-256' }, privateKey, Buffer.from(text));
    return `${text}.${Buffer.from(bytes).toString('base64url')}`;
  };
  return { jwk, sign };
}

export const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** Returns header and claims of a token, without verifying it. */
export function decodeToken(token: unknown): [Json, Json] {
  const [header = '', claims = ''] = String(token).split('.');
  const read = (part: string): Json => JSON.parse(Buffer.from(part, 'base64url').toString());
  return [read(header), read(claims)];
}

/** Acts as a browser: keeps cookies and follows redirects, until one leads to `end`. */
async function follow(start: string, end: string): Promise<URL> {
  const cookies = new Map<string, string>();
  let url = start;
  for (let hops = 0; hops < 12; hops++) {
    if (url.startsWith(end)) return new URL(url);
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
  throw new Error('The identity provider redirects in circles.');
}
