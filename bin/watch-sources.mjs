import { watch } from 'node:fs';
import { join } from 'node:path';
import { root } from './process.mjs';

/** Editors write a file in several steps, and switching branches changes many files. */
const SETTLED_MS = 100;

/** Tests and their tools are not part of the service, and the files that Prisma generates change together with watched files. */
const isPart = path => /\.(ts|json|lua|sql)$/.test(path) && !/\.test\.ts$|(^|[\\/])testing[\\/]/.test(path);

/** Calls `changed` after the last of a burst of changes to the service's sources, in `folder`. Returns a function that ends the watch. */
export function watchSources(changed, folder = join(root, 'server')) {
  let timer;
  const watcher = watch(folder, { recursive: true }, (_, path) => {
    if (path === null || !isPart(path)) return;
    clearTimeout(timer);
    timer = setTimeout(changed, SETTLED_MS);
  });
  return () => {
    clearTimeout(timer);
    watcher.close();
  };
}
