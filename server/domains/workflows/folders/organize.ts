import type { z } from 'zod';
import type { Context } from '../../../operation/context.ts';
import { DEFAULT_KIND } from '../../../operation/workflow-kinds.ts';
import { invalid, notFound } from '../../../platform/errors.ts';
import { transact } from '../../../platform/postgres/transaction.ts';
import { managedElsewhere } from '../precondition.ts';
import { projectScope } from '../view.ts';
import { folderProblem, inOrder, MAX_TAGS } from './names.ts';
import { lockFolder, lockPlaces, type Place, savePlaces } from './queries.ts';
import type { OrganizeInput, OrganizeOutput, RenameFolderInput, RenameFolderOutput } from './schemas.ts';

/**
 * Moves workflows into a folder and changes their tags, for all workflows or none. The drafts do not change, so open editors see no conflict.
 * Throws AppError 404, 409 `managed_elsewhere`, and 422 if a workflow would have too many tags.
 */
export function organizeWorkflows(
  ctx: Context,
  input: z.output<typeof OrganizeInput>,
): Promise<z.input<typeof OrganizeOutput>> {
  const scope = projectScope(ctx);
  const ids = [...new Set(input.workflow_ids)];
  return transact(ctx.services.pool, async tx => {
    const found = await lockPlaces(tx, scope, ids);
    if (found.length < ids.length) throw notFound('Workflow');
    const other = found.find(({ kind }) => kind !== DEFAULT_KIND);
    if (other !== undefined) throw managedElsewhere(other.kind);
    const workflows = found.map(place => placed(place, input));
    await savePlaces(tx, scope, workflows);
    return { workflows };
  });
}

function placed(place: Place, input: z.output<typeof OrganizeInput>): Omit<Place, 'kind'> {
  const { folder = place.folder, add_tags: added = [], remove_tags: removed = [] } = input;
  const next = inOrder([...place.tags.filter(tag => !removed.includes(tag)), ...added]);
  if (next.length <= MAX_TAGS) return { id: place.id, folder, tags: next };
  throw invalid(`A workflow has at most ${MAX_TAGS} tags.`, [
    { path: 'add_tags', message: `would make ${next.length} tags of the workflow ${place.id}` },
  ]);
}

/**
 * Changes the path of a folder with all its contents, including archived workflows. Throws AppError 404 for a folder without workflows, and
 * 422 for a path inside itself or a path that is too deep for its contents.
 */
export function renameFolder(
  ctx: Context,
  { from, to }: z.output<typeof RenameFolderInput>,
): Promise<z.input<typeof RenameFolderOutput>> {
  const scope = projectScope(ctx);
  const refuse = (path: 'from' | 'to', message: string) =>
    invalid('The folder cannot be renamed.', [{ path, message }]);
  if (from === '') throw refuse('from', 'must name a folder');
  if (to.startsWith(`${from}/`)) throw refuse('to', 'must not be inside the folder itself');
  return transact(ctx.services.pool, async tx => {
    const found = await lockFolder(tx, scope, DEFAULT_KIND, from);
    if (found.length === 0) throw notFound('Folder');
    const moved = found.map(({ id, folder, tags }) => ({ id, tags, folder: below(to, folder.slice(from.length + 1)) }));
    for (const { folder } of moved) {
      const problem = folderProblem(folder);
      if (problem !== null) throw refuse('to', `${problem}, with the folders inside it`);
    }
    await savePlaces(tx, scope, moved);
    return { workflows: moved.length };
  });
}

const below = (folder: string, rest: string): string => [folder, rest].filter(part => part !== '').join('/');
