import { z } from 'zod';
import { optional, optionalHttpUrl } from '../setting-types.ts';

/** A client registered with an authorization server. */
export type OauthSettings = {
  /** Undefined if only endpoints are known. */
  issuer: string | undefined;
  /** Undefined: discovered from the issuer. */
  endpoints: { authorization: string; token: string; userinfo: string | undefined } | undefined;
  clientId: string;
  clientSecret: string | undefined;
  scopes: readonly string[];
  authorizationParams: Readonly<Record<string, string>>;
  /** Whether the signature of an ID token is verified although it came straight from the token endpoint. */
  verifiesSignatures?: boolean;
};

/** `services`: what can be enabled and disabled in a connection, with the scopes that each needs. */
export type SuiteSettings = OauthSettings & { services: ReadonlyMap<string, readonly string[]> };
/** `oauth` null: credentials can only be entered manually. */
export type MessagingSettings = { apiUrl: string; oauth: OauthSettings | null };

const wordsOf = (text: string) => text.split(/\s+/).filter(word => word !== '');
const words = z.string().transform(wordsOf);
const query = z
  .string()
  .default('')
  .transform(text => Object.fromEntries(new URLSearchParams(text)));

/** `mail=scope scope; calendar=scope`. */
const services = z
  .string()
  .default('')
  .transform((text, context) => {
    const entries = text.split(';').map(entry => entry.trim());
    return new Map(
      entries
        .filter(entry => entry !== '')
        .map(entry => {
          const [, name = '', scopes = ''] = /^([a-z][a-z0-9_-]{0,31})\s*=(.+)$/.exec(entry) ?? [];
          if (name === '') context.addIssue({ code: 'custom', message: 'must be name=scope scope; name=scope' });
          return [name, wordsOf(scopes)] as const;
        }),
    );
  });

/** The environment of the `suite` and `messaging` connections (docs/specification/connections.md#accounts). */
export const suiteSchema = z.object({
  /** The issuer's metadata is discovered, unless both endpoints below are given. */
  BATON_SUITE_ISSUER: optionalHttpUrl,
  BATON_SUITE_AUTHORIZATION_ENDPOINT: optionalHttpUrl,
  BATON_SUITE_TOKEN_ENDPOINT: optionalHttpUrl,
  BATON_SUITE_USERINFO_ENDPOINT: optionalHttpUrl,
  /** Absent: there are no suite connections. */
  BATON_SUITE_CLIENT_ID: optional,
  BATON_SUITE_CLIENT_SECRET: optional,
  /** Scopes that every connection requests. */
  BATON_SUITE_SCOPES: words.default(['openid', 'email', 'profile']),
  BATON_SUITE_SERVICES: services,
  /** Further parameters of the authorization request, such as `access_type=offline&prompt=consent`. */
  BATON_SUITE_AUTHORIZATION_PARAMS: query,
});

export const messagingSchema = z.object({
  /** Absent: there are no messaging connections. Credentials are tested here before they are saved. */
  BATON_MESSAGING_API_URL: optionalHttpUrl,
  BATON_MESSAGING_AUTHORIZATION_ENDPOINT: optionalHttpUrl,
  BATON_MESSAGING_TOKEN_ENDPOINT: optionalHttpUrl,
  BATON_MESSAGING_CLIENT_ID: optional,
  BATON_MESSAGING_CLIENT_SECRET: optional,
  BATON_MESSAGING_SCOPES: words.default([]),
  BATON_MESSAGING_AUTHORIZATION_PARAMS: query,
});

/**
 * Returns the settings, null without a client id. An incomplete configuration is reported to `problem`, and
 * does not disable the feature.
 */
export function suiteSettings(
  env: z.output<typeof suiteSchema>,
  problem: (message: string) => void,
): SuiteSettings | null {
  const { BATON_SUITE_AUTHORIZATION_ENDPOINT: authorization, BATON_SUITE_TOKEN_ENDPOINT: token } = env;
  if (env.BATON_SUITE_CLIENT_ID === undefined) return null;
  const userinfo = env.BATON_SUITE_USERINFO_ENDPOINT;
  const endpoints = authorization && token ? { authorization, token, userinfo } : undefined;
  if (endpoints === undefined && env.BATON_SUITE_ISSUER === undefined) {
    problem('BATON_SUITE_CLIENT_ID: needs BATON_SUITE_ISSUER, or the authorization and the token endpoint');
  }
  return {
    issuer: env.BATON_SUITE_ISSUER,
    endpoints,
    clientId: env.BATON_SUITE_CLIENT_ID,
    clientSecret: env.BATON_SUITE_CLIENT_SECRET,
    scopes: env.BATON_SUITE_SCOPES,
    authorizationParams: env.BATON_SUITE_AUTHORIZATION_PARAMS,
    services: env.BATON_SUITE_SERVICES,
  };
}

/** Returns the settings, null without an API address. */
export function messagingSettings(
  env: z.output<typeof messagingSchema>,
  problem: (message: string) => void,
): MessagingSettings | null {
  const { BATON_MESSAGING_AUTHORIZATION_ENDPOINT: authorization, BATON_MESSAGING_TOKEN_ENDPOINT: token } = env;
  const clientId = env.BATON_MESSAGING_CLIENT_ID;
  const apiUrl = env.BATON_MESSAGING_API_URL?.replace(/\/+$/, '');
  const endpoints = authorization && token ? { authorization, token, userinfo: undefined } : undefined;
  if (clientId !== undefined && (endpoints === undefined || apiUrl === undefined)) {
    problem('BATON_MESSAGING_CLIENT_ID: needs BATON_MESSAGING_API_URL, and the authorization and the token endpoint');
  }
  if (apiUrl === undefined) return null;
  const oauth = clientId !== undefined && {
    issuer: undefined,
    endpoints,
    clientId,
    clientSecret: env.BATON_MESSAGING_CLIENT_SECRET,
    scopes: env.BATON_MESSAGING_SCOPES,
    authorizationParams: env.BATON_MESSAGING_AUTHORIZATION_PARAMS,
  };
  return { apiUrl, oauth: oauth || null };
}
