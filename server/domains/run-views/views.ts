import type { z } from 'zod';
import type { Context } from '../../operation/context.ts';
import { hasRole } from '../../orchestrator/ports/authority.ts';
import { isoTimestamp } from '../../platform/clock.ts';
import { conflict, forbidden, notFound } from '../../platform/errors.ts';
import { newId } from '../../platform/ids.ts';
import { type Transaction, transact } from '../../platform/postgres/transaction.ts';
import {
  type ListViewsOutput,
  MAX_VIEWS,
  type PatchViewInput,
  type RunView,
  type SaveViewInput,
  type ViewRef,
} from './schemas.ts';
import {
  clearOthersDefaults,
  deleteView,
  insertView,
  listViews,
  lockView,
  type Person,
  setDefault,
  updateView,
  type ViewRow,
} from './store.ts';

type Tx = Pick<Transaction, 'query'>;

const personOf = ({ principal: { tenantId, projectId, userId } }: Context): Person => ({ tenantId, projectId, userId });

/** GET /v1/runs/views: the caller's own views of the project, and shared ones, by name. */
export async function listRunViews(ctx: Context): Promise<z.input<typeof ListViewsOutput>> {
  const person = personOf(ctx);
  const rows = await listViews(ctx.services.pool, person);
  return { views: rows.map(row => toView(row, person)) };
}

/** POST /v1/runs/views. Throws AppError 403 for a shared view of a caller who is no contributor, and 409 `too_many_views`. */
export function saveRunView(
  ctx: Context,
  { default: isDefault, ...view }: z.output<typeof SaveViewInput>,
): Promise<z.input<typeof RunView>> {
  if (view.shared) requireContributor(ctx);
  const person = personOf(ctx);
  const [id, at] = [newId(), new Date(ctx.services.clock.now())];
  return transact(ctx.services.pool, async tx => {
    if (!(await insertView(tx, person, { id, ...view, at }, MAX_VIEWS)))
      throw conflict('too_many_views', `A person has at most ${MAX_VIEWS} views in a project.`);
    if (isDefault) await setDefault(tx, person, id, true);
    return toView(await requireView(tx, person, id), person);
  });
}

/**
 * PATCH /v1/runs/views/{view_id}: changes the given fields. Every person who sees a view may make it their default. Throws AppError 404, and
 * 403 if the view is or becomes shared and the caller is no contributor.
 */
export function patchRunView(
  ctx: Context,
  { view_id: id, default: isDefault, ...change }: z.output<typeof PatchViewInput>,
): Promise<z.input<typeof RunView>> {
  const person = personOf(ctx);
  return transact(ctx.services.pool, async tx => {
    const view = await requireView(tx, person, id);
    if (Object.values(change).some(value => value !== undefined)) {
      if (view.shared || change.shared) requireContributor(ctx);
      await updateView(tx, person, id, change, new Date(ctx.services.clock.now()));
      if (view.shared && change.shared === false) await clearOthersDefaults(tx, person, id, view.owner_id);
    }
    if (isDefault !== undefined) await setDefault(tx, person, id, isDefault);
    // A contributor who stops sharing the view of somebody else no longer sees it.
    return toView((await lockView(tx, person, id)) ?? { ...view, shared: false, is_default: false }, person);
  });
}

/** DELETE /v1/runs/views/{view_id}: the caller's own, or a shared one as a contributor. Throws AppError 403 and 404. */
export function deleteRunView(ctx: Context, { view_id: id }: z.output<typeof ViewRef>): Promise<void> {
  const person = personOf(ctx);
  return transact(ctx.services.pool, async tx => {
    const view = await requireView(tx, person, id);
    if (view.owner_id !== person.userId) requireContributor(ctx);
    await deleteView(tx, person, id);
  });
}

async function requireView(tx: Tx, person: Person, id: string): Promise<ViewRow> {
  const view = await lockView(tx, person, id);
  if (view === null) throw notFound('View');
  return view;
}

function requireContributor({ principal }: Context): void {
  if (!hasRole(principal.role, 'project_contributor'))
    throw forbidden('Shared views need the role project_contributor.', 'insufficient_role');
}

const toView = (row: ViewRow, { userId }: Person): z.input<typeof RunView> => ({
  id: row.id,
  name: row.name,
  shared: row.shared,
  filters: row.filters,
  columns: row.columns,
  own: row.owner_id === userId,
  default: row.is_default,
  updated_at: isoTimestamp(row.updated_at.getTime()),
});
