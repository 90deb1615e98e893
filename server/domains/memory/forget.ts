import type { z } from 'zod';
import type { Context } from '../../operation/context.ts';
import { forbidden, invalid, notFound } from '../../platform/errors.ts';
import { isId } from '../../platform/ids.ts';
import { deleteForgotten, deleteRecallsOf, type Forgotten, findForgotten } from './forget-store.ts';
import { inItemTransaction } from './items/store.ts';
import type { ForgetInput, ForgetOutput } from './schemas.ts';
import { isVisibleTo, requireWriter, scopeOf, visibilityOf } from './scope.ts';

/**
 * POST /v1/memory/forget: all or nothing. Items that a machine derived from the forgotten episodes alone go with them. AppError 403 where
 * something of it is not the caller's to write, 404 for an episode, 422 without the `ref` that is needed.
 */
export async function forget(
  { principal, services }: Context,
  input: z.output<typeof ForgetInput>,
): Promise<z.input<typeof ForgetOutput>> {
  const what = readForgotten(input);
  if (what.of === 'project' && principal.role !== 'tenant_admin') {
    throw forbidden('Forgetting a whole project needs the role tenant_admin.', 'insufficient_role');
  }
  const { tenantId } = principal;
  const scope = scopeOf(principal);
  return inItemTransaction(services.pool, tenantId, async db => {
    const { episodes, items } = await findForgotten(db, scope, what);
    if (what.of === 'episode' && episodes.length === 0) throw notFound('Episode');
    for (const visibility of new Set([...episodes, ...items].map(visibilityOf))) requireWriter(principal, visibility);
    const episodeIds = episodes.map(({ id }) => id);
    const deleted = await deleteForgotten(db, scope, { episodeIds, itemIds: items.map(({ id }) => id) });
    if (what.of === 'me') await deleteRecallsOf(db, scope);
    // What others had derived for themselves goes as well, and is not counted.
    return { items: deleted.filter(each => isVisibleTo(each, scope)).length, episodes: episodes.length };
  });
}

function readForgotten({ of, ref }: z.output<typeof ForgetInput>): Forgotten {
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
