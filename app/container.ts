import { ADDRESS_HEADER } from '../server/operation/request-headers.ts';
import type { Container } from '../server/process/container.ts';

/**
 * The running service. `server/process/main.ts` publishes it; routes import no server code (Next would bundle a second copy of it, and a
 * second orchestrator would start). Throws where Next was started without the server.
 */
export function container(): Container {
  const published = Reflect.get(globalThis, Symbol.for('baton.container')) as Container | undefined;
  if (!published) throw new Error('The service is not running: start it with `npm start`, not with Next alone.');
  return published;
}

/**
 * The client's address of a request that came through Next; the server sets it itself on each request that it passes
 * on.
 */
export function clientOf(request: Request): { address: string } {
  return { address: request.headers.get(ADDRESS_HEADER) ?? 'unknown' };
}
