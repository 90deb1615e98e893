import type { z } from 'zod';
import type { Context } from '../../operation/context.ts';
import { forbidden, invalid, notFound } from '../../platform/errors.ts';
import { isId } from '../../platform/ids.ts';
import { deleteMemories, deleteRecallsOf, type ForgetSelection, findSelectedMemories } from './forget-store.ts';
import { inItemTransaction } from './items/store.ts';
import type { ForgetInput, ForgetOutput } from './schemas.ts';
import { isVisibleTo, requireWriter, scopeOf, visibilityOf } from './scope.ts';

/**
 * POST /v1/memory/forget: deletes the selected memories, or none. Machine-made items that rest only on deleted episodes are deleted, too.
 * Throws AppError 403 if the caller may not write one of the memories, 404 for an unknown episode, 422 without a required `ref`.
 */
export async function forget(
  { principal, services }: Context,
  input: z.output<typeof ForgetInput>,
): Promise<z.input<typeof ForgetOutput>> {
  const what = readSelection(input);
  if (what.of === 'project' && principal.role !== 'tenant_admin') {
    throw forbidden('Forgetting a whole project needs the role tenant_admin.', 'insufficient_role');
  }
  const { tenantId } = principal;
  const scope = scopeOf(principal);
  return inItemTransaction(services.pool, tenantId, async db => {
    const { episodes, items } = await findSelectedMemories(db, scope, what);
    if (what.of === 'episode' && episodes.length === 0) throw notFound('Episode');
    for (const visibility of new Set([...episodes, ...items].map(visibilityOf))) requireWriter(principal, visibility);
    const episodeIds = episodes.map(({ id }) => id);
    const deleted = await deleteMemories(db, scope, { episodeIds, itemIds: items.map(({ id }) => id) });
    if (what.of === 'me') await deleteRecallsOf(db, scope);
    // Private items of others are deleted, too, but the count must not reveal them.
    return { items: deleted.filter(each => isVisibleTo(each, scope)).length, episodes: episodes.length };
  });
}

function readSelection({ of, ref }: z.output<typeof ForgetInput>): ForgetSelection {
  if (of === 'me' || of === 'project') {
    if (ref === undefined) return { of };
    throw invalid('The request is not valid.', [{ path: 'ref', message: `does not belong to ${of}` }]);
  }
  if (ref === undefined || ref === '') {
    throw invalid('The request is not valid.', [{ path: 'ref', message: `is required for ${of}` }]);
  }
  if (of === 'thread') return { of, ref };
  const id = ref.toLowerCase();
  if (!isId(id)) throw invalid('The request is not valid.', [{ path: 'ref', message: 'must be an id' }]);
  return { of, id };
}
