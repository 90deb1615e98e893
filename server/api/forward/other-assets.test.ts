import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import type { Member } from '../../orchestrator/ports/cluster.ts';
import { systemAlarm } from '../../platform/clock.ts';
import { scratchFolder } from '../../testing/scratch-folder.ts';
import { testSeal } from '../../testing/two-nodes.ts';
import { type Edge, listen } from '../edge.ts';
import { serveStaticAssets } from '../static-assets.ts';
import { Forward } from './forward.ts';
import { assetsOfOthers } from './other-assets.ts';
import { receiveForwarded } from './received.ts';

const edges: Edge[] = [];
const forwards: Forward[] = [];
afterEach(async () => {
  for (const forward of forwards.splice(0)) forward.close();
  for (const edge of edges.splice(0)) await edge.close(0);
});

/** Starts a node with the files of a build. Returns its URL and the list of paths that were requested from it. */
async function startNode(id: string, files: Record<string, string>, members: Member[]) {
  const folder = join(scratchFolder(), id);
  await mkdir(folder, { recursive: true });
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  const own = serveStaticAssets(folder, '/_next/static/');
  const seal = testSeal();
  const count = () => undefined;
  const ownerOf = () => ({ kind: 'unknown' }) as const;
  const forward = new Forward({ self: id, ownerOf, seal, alarm: systemAlarm, count });
  forwards.push(forward);
  const others = assetsOfOthers({ node: { id, url: '' }, members: () => members }, forward);
  const requestedPaths: string[] = [];
  const edge = await listen(
    { host: '127.0.0.1', port: 0 },
    () => ({
      async request(request, response) {
        const path = request.url ?? '';
        requestedPaths.push(path);
        receiveForwarded(request, seal);
        if (await own(path, request, response)) return;
        if (await others(path, request, response)) return;
        response.writeHead(404).end('none');
      },
      upgrade: () => false,
    }),
    { logger: { error: () => undefined, warn: () => undefined }, maxConnectionsPerAddress: 0, trustedProxies: 0 },
  );
  edges.push(edge);
  const url = `http://127.0.0.1:${edge.port}`;
  const state = { level: 1, version: '1', leads: true, isLeading: false, shards: [], isHeard: true };
  members.push({ id, url, ...state });
  return { url, requestedPaths };
}

test('a script of another build comes from the node that has it, and a missing one is requested there once', async () => {
  const members: Member[] = [];
  const old = await startNode('old', { 'old-1.js': 'old()' }, members);
  const young = await startNode('young', { 'new-1.js': 'new()' }, members);
  const answer = await fetch(`${young.url}/_next/static/old-1.js`);
  expect([answer.status, await answer.text()]).toEqual([200, 'old()']);
  expect(answer.headers.get('cache-control')).toContain('immutable');
  expect(answer.headers.get('content-type')).toContain('javascript');
  expect(await (await fetch(`${old.url}/_next/static/new-1.js`)).text()).toBe('new()');

  old.requestedPaths.length = 0;
  young.requestedPaths.length = 0;
  for (let at = 0; at < 3; at++) expect((await fetch(`${young.url}/_next/static/none.js`)).status).toBe(404);
  // The other node received one request and sent none.
  expect(old.requestedPaths).toEqual(['/_next/static/none.js']);
  expect(young.requestedPaths).toHaveLength(3);
  for (const path of ['/_next/image', '/v1/none.js', '/_next/static/none.exe'])
    expect((await fetch(young.url + path)).status).toBe(404);
  expect(old.requestedPaths).toHaveLength(1);
});
