import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import * as z from 'zod';

/**
 * Measures the JavaScript that each page of the console loads, from the build's files: compressed with gzip, in KiB,
 * without a cache.
 */
const built = fileURLToPath(new URL('../.next', import.meta.url));
if (!existsSync(join(built, 'BUILD_ID'))) throw new Error('The console is not built. Run npm run build first.');

const Routes = z.array(z.object({ route: z.string(), firstLoadChunkPaths: z.array(z.string()) }));
const Loadable = z.record(z.string(), z.object({ files: z.array(z.string()) }));
const read = (path: string): unknown => JSON.parse(readFileSync(join(built, path), 'utf8'));
const routes = new Map(
  Routes.parse(read('diagnostics/route-bundle-stats.json')).map(({ route, firstLoadChunkPaths }) => [
    route,
    firstLoadChunkPaths.map(path => path.replace(/^\.next\//, '')),
  ]),
);

function kibibytes(files: Iterable<string>): number {
  let bytes = 0;
  for (const file of files) if (file.endsWith('.js')) bytes += gzipSync(readFileSync(join(built, file))).length;
  return bytes / 1024;
}

function firstLoad(route: string): number {
  const files = routes.get(route);
  if (files === undefined) throw new Error(`The build has no route ${route}.`);
  return kibibytes(files);
}

const signedOut = ['sign-in', 'sign-up', 'setup', 'accept-invitation', 'confirm-address', 'forgot-password'];

test.each([...signedOut, 'reset-password'])('/%s loads at most 157 KiB', route => {
  expect(firstLoad(`/${route}`)).toBeLessThan(157);
});

// The pages that a member opens first. Next and React are 129 KiB of each; Radix's dialogs and lists are loaded later.
test.each(['workflows', 'inbox', 'runs', 'analytics'])('/%s loads at most 200 KiB', route => {
  expect(firstLoad(`/${route}`)).toBeLessThan(200);
});

test('the page of a workflow loads at most 216 KiB without its editor, and at most 350 KiB on demand', () => {
  expect(firstLoad('/workflows/[id]')).toBeLessThan(216);
  const loadable = Loadable.parse(read('server/app/(console)/workflows/[id]/page/react-loadable-manifest.json'));
  // The editor with its code fields, the forms of all step types, every dialog and every other view.
  const onDemand = new Set(Object.values(loadable).flatMap(({ files }) => files));
  for (const file of routes.get('/workflows/[id]') ?? []) onDemand.delete(file);
  // The manifest also lists chunks that Turbopack does not write, if one on-demand module loads another.
  for (const file of onDemand) if (!existsSync(join(built, file))) onDemand.delete(file);
  expect(kibibytes(onDemand)).toBeGreaterThan(100);
  expect(kibibytes(onDemand)).toBeLessThanOrEqual(350);
});

test('the page of a run loads at most 213 KiB, and every page at most 275', () => {
  expect(firstLoad('/workflows/[id]/runs/[runId]')).toBeLessThan(213);
  const sizes = [...routes.keys()].map(route => ({ route, size: firstLoad(route) }));
  expect(sizes.filter(({ size }) => size >= 275)).toEqual([]);
});
