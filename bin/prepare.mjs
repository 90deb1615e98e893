import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { compressAssets } from './compress-assets.mjs';
import { ownNode, printLine, root, run } from './process.mjs';

const stamps = join(root, 'node_modules', '.baton');

/** Returns true if `name` was last made from `hash`. */
async function isFresh(name, hash) {
  return (await readFile(join(stamps, name), 'utf8').catch(() => '')) === hash;
}

async function stamp(name, hash) {
  await mkdir(stamps, { recursive: true });
  await writeFile(join(stamps, name), hash);
}

/** Returns a hash of files and folders (relative to the checkout), by path and content. Missing files count as empty. */
async function hashOf(paths, accept = () => true) {
  const hash = createHash('sha256');
  for (const path of paths) await addToHash(hash, path, accept);
  return hash.digest('hex');
}

async function addToHash(hash, path, accept) {
  const entries = await readdir(join(root, path), { withFileTypes: true }).catch(() => undefined);
  if (entries === undefined) {
    const content = await readFile(join(root, path)).catch(() => undefined);
    if (content && accept(path)) hash.update(path).update('\0').update(content);
    return;
  }
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    if (entry.name === 'generated' || entry.name.startsWith('.')) continue;
    await addToHash(hash, `${path}/${entry.name}`, accept);
  }
}

/**
 * Returns true if node_modules matches the lock file, for installations that were made by npm without this script. npm
 * writes what it has installed to `node_modules/.package-lock.json`. Only optional packages (of other platforms) may be
 * missing there.
 */
async function isInstalled() {
  const packagesOf = async path => JSON.parse(await readFile(join(root, path), 'utf8')).packages;
  try {
    const [locked, installed] = await Promise.all(
      ['package-lock.json', 'node_modules/.package-lock.json'].map(packagesOf),
    );
    const fits = Object.entries(locked).every(([path, { version, optional }]) => {
      if (path === '') return true;
      return path in installed ? installed[path].version === version : optional === true;
    });
    return fits && existsSync(ownNode);
  } catch {
    return false;
  }
}

/**
 * Installs the dependencies if they are missing or the lock file has changed. Uses `npm ci` rather than `npm install`, so that everyone
 * gets exactly the tested versions.
 */
export async function install() {
  const hash = await hashOf(['package.json', 'package-lock.json']);
  if (existsSync(ownNode) && (await isFresh('install', hash))) return;
  if (!(await isInstalled())) {
    printLine('installing dependencies (the first start only; about a minute) …');
    const code = await npm(['ci', '--include=dev', '--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error']);
    if (code !== 0)
      throw new Error(
        `npm ci failed with exit code ${code}: see its message above. If package.json was changed, run npm install.`,
      );
    if (!existsSync(ownNode))
      throw new Error(
        `npm installed no Node for ${process.platform} ${process.arch}: is ignore-scripts set in its configuration?`,
      );
  }
  await stamp('install', hash);
}

/** Runs npm; resolves to its exit code. */
async function npm(args) {
  // npm passes its own path to its scripts; without it, the shell finds npm.
  const { npm_execpath: script, npm_node_execpath: node = process.execPath } = process.env;
  // Not with the Node of this process: npm scripts run with the one in node_modules, which `npm ci` removes.
  return script?.endsWith('.js')
    ? run(node, [script, ...args])
    : run(process.platform === 'win32' ? 'npm.cmd' : 'npm', args);
}

/** Generates the Prisma client if the schema or Prisma has changed. */
export async function generate() {
  const cli = join(root, 'node_modules', 'prisma', 'build', 'index.js');
  const hash = await hashOf(['prisma/schema.prisma', 'node_modules/prisma/package.json']);
  const client = join(root, 'server', 'platform', 'postgres', 'generated', 'client.ts');
  if (existsSync(client) && (await isFresh('generate', hash))) return;
  printLine('generating the database client …');
  const env = {
    // The CLI would download an engine that `generate` never uses. Setting the path of any existing program prevents
    // that.
    PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
    PRISMA_HIDE_UPDATE_MESSAGE: '1',
    CHECKPOINT_DISABLE: '1',
  };
  await promisify(execFile)(ownNode, [cli, 'generate', '--no-hints'], {
    cwd: root,
    env: { ...process.env, ...env },
  }).catch(error => {
    throw new Error(`prisma generate failed: ${error.stderr || error.message}`);
  });
  await stamp('generate', hash);
}

const consoleSources = [
  'app',
  'components',
  'public',
  'server',
  'next.config.mjs',
  'postcss.config.mjs',
  'tsconfig.json',
  'package-lock.json',
];

/** Builds the console if its sources have changed. */
export async function build() {
  const hash = await hashOf(consoleSources, path => !/\.(test|spec)\.tsx?$/.test(path));
  if (existsSync(join(root, '.next', 'BUILD_ID')) && (await isFresh('build', hash))) return;
  printLine('building the console (after a change only; about half a minute) …');
  await rm(join(stamps, 'build'), { force: true });
  const env = { NODE_ENV: 'production', NEXT_TELEMETRY_DISABLED: '1' };
  const code = await run(ownNode, [join(root, 'node_modules', 'next', 'dist', 'bin', 'next'), 'build'], { env });
  if (code !== 0) throw new Error(`next build failed with exit code ${code}: see its message above.`);
  await compressAssets(join(root, '.next', 'static'));
  await stamp('build', hash);
}
