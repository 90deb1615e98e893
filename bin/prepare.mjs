import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ownNode, root, run, say } from './process.mjs';

const stamps = join(root, 'node_modules', '.baton');

/** Whether `name` was last made from `hash`. */
async function isFresh(name, hash) {
  return (await readFile(join(stamps, name), 'utf8').catch(() => '')) === hash;
}

async function stamp(name, hash) {
  await mkdir(stamps, { recursive: true });
  await writeFile(join(stamps, name), hash);
}

/** A hash of files and folders (relative to the checkout), by path and content; what does not exist counts as empty. */
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

/** Whether node_modules holds every direct dependency in the pinned version, for installs that npm made by itself. */
async function isInstalled() {
  const { dependencies, devDependencies } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  const pinned = Object.entries({ ...dependencies, ...devDependencies });
  const found = await Promise.all(
    pinned.map(async ([name, version]) => {
      const text = await readFile(join(root, 'node_modules', name, 'package.json'), 'utf8').catch(() => '{}');
      return JSON.parse(text).version === version;
    }),
  );
  return found.every(Boolean) && existsSync(ownNode);
}

/**
 * Installs the dependencies where they are missing or the lock file has changed. `npm install` rather than `npm ci`: a lock
 * file made where other platforms' binaries could not be had must still work; `--no-save` leaves it as it is.
 */
export async function install() {
  const hash = await hashOf(['package.json', 'package-lock.json']);
  if (existsSync(ownNode) && (await isFresh('install', hash))) return;
  if (!(await isInstalled())) {
    say('installing dependencies (the first start only; about a minute) …');
    const args = [
      'install',
      '--no-save',
      '--include=dev',
      '--no-audit',
      '--no-fund',
      '--prefer-offline',
      '--loglevel=error',
    ];
    // npm tells its scripts where it is itself; without it, the shell finds it.
    const npm = process.env.npm_execpath;
    const code = npm?.endsWith('.js')
      ? await run(process.execPath, [npm, ...args])
      : await run(process.platform === 'win32' ? 'npm.cmd' : 'npm', args);
    if (code !== 0) throw new Error(`npm install failed with exit code ${code}: see its message above.`);
    if (!existsSync(ownNode))
      throw new Error(
        `npm installed no Node for ${process.platform} ${process.arch}: is ignore-scripts set in its configuration?`,
      );
  }
  await stamp('install', hash);
}

/** Generates the Prisma client where the schema or Prisma has changed. */
export async function generate() {
  const cli = join(root, 'node_modules', 'prisma', 'build', 'index.js');
  const hash = await hashOf(['prisma/schema.prisma', 'node_modules/prisma/package.json']);
  const client = join(root, 'server', 'platform', 'postgres', 'generated', 'client.ts');
  if (existsSync(client) && (await isFresh('generate', hash))) return;
  say('generating the database client …');
  const env = {
    // The CLI would download an engine that `generate` never uses; any program that exists keeps it from doing so.
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

/** Builds the console where its sources have changed. */
export async function build() {
  const hash = await hashOf(consoleSources, path => !/\.(test|spec)\.tsx?$/.test(path));
  if (existsSync(join(root, '.next', 'BUILD_ID')) && (await isFresh('build', hash))) return;
  say('building the console (after a change only; about half a minute) …');
  await rm(join(stamps, 'build'), { force: true });
  const env = { NODE_ENV: 'production', NEXT_TELEMETRY_DISABLED: '1' };
  const code = await run(ownNode, [join(root, 'node_modules', 'next', 'dist', 'bin', 'next'), 'build'], { env });
  if (code !== 0) throw new Error(`next build failed with exit code ${code}: see its message above.`);
  await stamp('build', hash);
}
