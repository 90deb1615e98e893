import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Cluster } from '../../orchestrator/ports/cluster.ts';
import { setBounded } from '../../platform/bounded-map.ts';
import type { StaticAssets } from '../static-assets.ts';
import type { Forward } from './forward.ts';
import { forwardedBy } from './received.ts';
import { relayed } from './relay.ts';

/** Files of a build, whose names change with their contents. */
const ASSET = /^\/_next\/static\/[A-Za-z0-9_.~/-]{1,200}\.(css|js|json|png|svg|txt|woff2|ico)$/;
/** The maximum number of concurrent requests to other nodes, because anyone may request unknown paths. */
const MAX_AT_ONCE = 8;
/** Paths that no node knew, which are not requested again for a while. */
const MAX_UNKNOWN = 1_000;
const UNKNOWN_FOR_MS = 10_000;

/**
 * Serves a file of a build that another node has: while nodes are replaced one by one, a page of one build may ask a node of the
 * other for its scripts. Each other node is asked once, and asks no further.
 */
export function assetsOfOthers(cluster: Pick<Cluster, 'members' | 'node'>, forward: Forward): StaticAssets {
  const unknown = new Map<string, number>();
  let inProgress = 0;
  return async (path, request, response) => {
    const isKnownAsset = ASSET.test(path) && request.method === 'GET' && forwardedBy(request) === null;
    const isUnknown = performance.now() - (unknown.get(path) ?? Number.NEGATIVE_INFINITY) < UNKNOWN_FOR_MS;
    if (!isKnownAsset || isUnknown || inProgress >= MAX_AT_ONCE) return false;
    inProgress += 1;
    try {
      for (const { id, url } of cluster.members())
        if (id !== cluster.node.id && (await serveFrom(forward, url, path, request, response))) return true;
    } finally {
      inProgress -= 1;
    }
    setBounded(unknown, path, performance.now(), MAX_UNKNOWN);
    return false;
  };
}

async function serveFrom(
  forward: Forward,
  url: string,
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<boolean> {
  const header = (name: string) => [request.headers[name]].flat()[0];
  const passed = ['host', 'accept-encoding'].filter(name => header(name) !== undefined);
  const peerRequest = forward.peerRequest(
    { method: 'GET', pathname: path, search: '', header, headerNames: () => passed, address: 'unknown' },
    { body: null },
  );
  try {
    const answer = await relayed(await forward.peers.send(url, peerRequest, AbortSignal.timeout(5_000)), peerRequest);
    if (answer.status !== 200 || !Buffer.isBuffer(answer.relayed)) {
      if (answer.relayed !== undefined && !Buffer.isBuffer(answer.relayed)) answer.relayed.destroy();
      return false;
    }
    response.writeHead(200, { ...answer.headers, 'Content-Length': answer.relayed.byteLength });
    response.end(answer.relayed);
    return true;
  } catch {
    return false;
  }
}
