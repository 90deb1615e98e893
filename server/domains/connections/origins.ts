import type { Context } from '../../operation/context.ts';
import { conflict, type ErrorDetail, invalid } from '../../platform/errors.ts';
import { isModelProvider, providerFacts } from '../../platform/models/providers.ts';
import { bindFirstOrigin, type ConnectionRow } from './store.ts';

/**
 * A connection is bound to the origins (RFC 6454: scheme, host and port) that its credentials may be sent to
 * (docs/adr/0012). Otherwise a user who may name a connection could have it sent to a server of their own, and read it
 * there.
 */
type Bound = Pick<ConnectionRow, 'name' | 'origins'>;

/** Returns the origin of an http(s) URL; null for any other text. */
export function originOf(url: string): string | null {
  const parsed = URL.parse(url);
  return parsed?.protocol === 'https:' || parsed?.protocol === 'http:' ? parsed.origin : null;
}

/** Returns the distinct origins of these URLs. */
export function originsOf(urls: readonly string[]): string[] {
  return [...new Set(urls.flatMap(url => originOf(url) ?? []))];
}

/**
 * Returns the origins of a new connection whose request names none: its `base_url`, else its
 * model provider's own address.
 */
export function impliedOrigins(provider: string, service: string, config: Readonly<Record<string, unknown>>): string[] {
  const { base_url: baseUrl } = config;
  if (typeof baseUrl === 'string') return originsOf([baseUrl]);
  const own = service === 'llm' && isModelProvider(provider) ? providerFacts[provider].baseUrl : null;
  return own === null ? [] : originsOf([own]);
}

/** Returns whether credentials bound to `origins` may be sent to `url`. */
export function maySend(origins: readonly string[], url: string): boolean {
  const origin = originOf(url);
  return origin !== null && origins.includes(origin);
}

/** Throws AppError 409 `credential_origin_refused` unless the connection's credentials may be sent to `url`. */
export function requireOrigin({ name, origins }: Bound, url: string): void {
  if (maySend(origins, url)) return;
  const where = originOf(url) ?? 'this address';
  const bound =
    origins.length === 0
      ? 'are not bound to an origin yet, and only the person who stored them can choose the first one by using them'
      : `may be sent to ${origins.join(', ')} only`;
  const message = `The credentials of “${name}” ${bound}. To send them to ${where}, enter them again with that origin.`;
  throw conflict('credential_origin_refused', message);
}

/**
 * Does the same for a caller who is about to send the credentials to `url`, or to let others do so. Binds unbound
 * credentials to the origin of `url` if the caller is the person who stored them and so learns nothing new.
 */
export async function requireOrBindOrigin({ principal, services }: Context, row: ConnectionRow, url: string) {
  if (maySend(row.origins, url)) return;
  const origin = originOf(url);
  const { tenantId, projectId, userId } = principal;
  const isBindable = row.origins.length === 0 && row.secretSetBy === userId && origin !== null;
  const ref = { tenantId, projectId, connectionId: row.id };
  if (isBindable && (await bindFirstOrigin(services.prisma, ref, { origin, setBy: userId }))) return;
  requireOrigin(row, url);
}

/**
 * Throws AppError 422 `secret_required` if credentials would be sent to an origin that is not among `former`, unless
 * all of them are entered again. `kept` names those that are not entered again.
 */
export function requireSecretsForOrigins(
  former: readonly string[],
  wanted: readonly string[],
  kept: readonly string[],
): void {
  const further = wanted.filter(origin => !former.includes(origin));
  if (further.length === 0 || kept.length === 0) return;
  const details: ErrorDetail[] = kept.map(name => ({
    path: `credentials.${name}`,
    message: `must be entered again to be sent to ${further.join(', ')}`,
    code: 'secret_required',
  }));
  throw invalid('Another origin needs the credentials to be entered again.', details, 'secret_required');
}
