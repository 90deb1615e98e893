import type { TokenEndpointResponse } from 'openid-client';
import { noteSecrets } from '../../../platform/secrets/in-use.ts';

/**
 * The stored part of a token response. The id token is not stored: it has already been read, and is not needed again.
 */
export function credentialsOf(tokens: TokenEndpointResponse): Record<string, string> {
  const { access_token: accessToken, refresh_token: refreshToken } = tokens;
  noteSecrets([accessToken, ...(refreshToken === undefined ? [] : [refreshToken])]);
  return { access_token: accessToken, ...(refreshToken === undefined ? {} : { refresh_token: refreshToken }) };
}

/** Prisma's client cannot read a time with a year of five digits. */
const LATEST_EXPIRY_MS = Date.UTC(9999, 11, 31);

/** When the access token ends, by our own clock, in the year 9999 at the latest; null where the server did not say. */
export function expiryOf({ expires_in: seconds }: Pick<TokenEndpointResponse, 'expires_in'>, now: number): Date | null {
  return seconds === undefined ? null : new Date(Math.min(now + seconds * 1000, LATEST_EXPIRY_MS));
}
