import type { TokenEndpointResponse } from 'openid-client';
import { noteSecrets } from '../../../platform/secrets/in-use.ts';

/** Returns the part of a token response that is stored. The id token is left out: it has been read already, and is not needed again. */
export function credentialsOf(tokens: TokenEndpointResponse): Record<string, string> {
  const { access_token: accessToken, refresh_token: refreshToken } = tokens;
  noteSecrets([accessToken, ...(refreshToken === undefined ? [] : [refreshToken])]);
  return { access_token: accessToken, ...(refreshToken === undefined ? {} : { refresh_token: refreshToken }) };
}

/** The latest time that Prisma's client can read: it fails for years with five digits. */
const LATEST_EXPIRY_MS = Date.UTC(9999, 11, 31);

/**
 * Returns when the access token expires by our own clock, in the year 9999 at the latest; null
 * if the server did not say.
 */
export function expiryOf({ expires_in: seconds }: Pick<TokenEndpointResponse, 'expires_in'>, now: number): Date | null {
  return seconds === undefined ? null : new Date(Math.min(now + seconds * 1000, LATEST_EXPIRY_MS));
}
