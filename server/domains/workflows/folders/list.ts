import type { z } from 'zod';
import type { Context } from '../../../operation/context.ts';
import { DEFAULT_KIND } from '../../../operation/workflow-kinds.ts';
import { projectScope } from '../view.ts';
import { countFolders, countTags } from './queries.ts';
import type { ListFoldersOutput } from './schemas.ts';

/** Returns the folders of the project, parents first, and its tags, each with its number of workflows. */
export async function listFolders(ctx: Context): Promise<z.input<typeof ListFoldersOutput>> {
  const { pool } = ctx.services;
  const scope = projectScope(ctx);
  const [own, tags] = await Promise.all([
    countFolders(pool, scope, DEFAULT_KIND),
    countTags(pool, scope, DEFAULT_KIND),
  ]);
  const counts = new Map<string, number>();
  for (const { folder, count } of own) {
    for (const path of withParents(folder)) counts.set(path, (counts.get(path) ?? 0) + count);
  }
  const folders = [...counts].map(([path, workflows]) => ({ path, workflows }));
  // The separator sorts before all characters of names, so that folders are ordered by name at each level.
  const key = (path: string) => path.toLowerCase().replaceAll('/', '\0');
  folders.sort((a, b) => (key(a.path) < key(b.path) ? -1 : 1));
  return { folders, tags };
}

function withParents(folder: string): string[] {
  const names = folder.split('/');
  return names.map((_, index) => names.slice(0, index + 1).join('/'));
}
