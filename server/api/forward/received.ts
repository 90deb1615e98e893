import type { IncomingMessage } from 'node:http';
import { badRequest } from '../../platform/errors.ts';
import { FORWARDED_HEADER, type Forwarded, type ForwardSeal } from './signature.ts';

const received = new WeakMap<IncomingMessage, Forwarded>();

/** Returns the facts that a forwarding node vouches for; null if a client sent the request itself. */
export function forwardedBy(request: IncomingMessage): Forwarded | null {
  return received.get(request) ?? null;
}

/**
 * Reads the header of a request that another node forwarded. `seal` is null outside of a cluster, where the header is ignored.
 * Throws AppError 400 for a header that no node of this cluster wrote for this request in the last seconds. Such a header is not
 * ignored: two nodes whose clocks differ would then count each other as clients, and could forward a request in a circle.
 */
export function receiveForwarded(request: IncomingMessage, seal: ForwardSeal | null): void {
  const value = request.headers[FORWARDED_HEADER];
  if (value === undefined || seal === null) return;
  const forwarded = seal.open([value].flat().join(', '), {
    method: request.method ?? 'GET',
    target: request.url ?? '/',
    header: name => [request.headers[name]].flat()[0],
  });
  if (forwarded === null) {
    throw badRequest('The header X-Baton-Forwarded is not from a node of this cluster.', 'forwarded_header_invalid');
  }
  received.set(request, forwarded);
}
