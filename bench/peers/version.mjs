import { readFileSync } from 'node:fs';

/** Returns the installed version of a package of bench/peers. */
export function versionOf(name) {
  return JSON.parse(readFileSync(new URL(`./node_modules/${name}/package.json`, import.meta.url), 'utf8')).version;
}
