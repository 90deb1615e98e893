import { ADDRESS_HEADER } from '../server/operation/request-headers.ts';
import type { Container } from '../server/process/container.ts';

/**
 * Returns the running service, which `server/process/main.ts` publishes. Routes import no server code, because Next would bundle a second
 * copy and start a second orchestrator. Throws if Next was started without the server.
 */
export function container(): Container {
  const published = Reflect.get(globalThis, Symbol.for('baton.container')) as Container | undefined;
  if (!published) throw new Error('The service is not running: start it with `npm start`, not with Next alone.');
  return published;
}

/** Returns the client's address of a request that came through Next. The server sets it on each request that it passes on. */
export function clientOf(request: Request): { address: string } {
  return { address: request.headers.get(ADDRESS_HEADER) ?? 'unknown' };
}
