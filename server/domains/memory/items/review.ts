import type { z } from 'zod';
import type { Context } from '../../../operation/context.ts';
import { cutPage, decodeCursor, TimeIdKey } from '../../../operation/cursor.ts';
import { conflict, notFound } from '../../../platform/errors.ts';
import type { Queryable } from '../../../platform/postgres/transaction.ts';
import { waitsForPerson } from '../belief/basis.ts';
import { refuseCredentials } from '../refuse-credentials.ts';
import type {
  ConfirmInput,
  ItemInput,
  ItemWithEvidence,
  ListItemsInput,
  ListItemsOutput,
  PatchItemInput,
} from '../schemas.ts';
import { requireWriter, scopeOf, visibilityOf } from '../scope.ts';
import { deleteItems } from './chain-store.ts';
import { isPerson, requireMayInstruct } from './propose.ts';
import {
  findItem,
  type ItemChange,
  type ItemRow,
  inItemTransaction,
  listEvidence,
  listItems,
  rewriteItem,
  updateItem,
} from './store.ts';
import { personRequired, reinstate, requireSupersedable, supersede } from './supersede.ts';
import { itemOf, withEvidence } from './view.ts';

/** GET /v1/memory/items: lists items, newest first. Throws AppError 422 for a cursor of another list. */
export async function listMemoryItems(
  { principal, services }: Context,
  { limit, cursor, workflow_id: workflowId, agent_id: agentId, ...filter }: z.output<typeof ListItemsInput>,
): Promise<z.input<typeof ListItemsOutput>> {
  const key = decodeCursor(TimeIdKey, cursor);
  const after = key && { at: new Date(key[0]), id: key[1] };
  const rows = await listItems(services.pool, scopeOf(principal), {
    after,
    limit: limit + 1,
    filter: { ...filter, workflowId, agentId },
  });
  const page = cutPage(rows, limit, row => [row.created_at.getTime(), row.id]);
  return { items: page.rows.map(itemOf), next_cursor: page.next_cursor };
}

/** GET /v1/memory/items/{id}: an item with its evidence. Throws AppError 404. */
export async function getMemoryItem(
  { principal, services }: Context,
  { id }: z.output<typeof ItemInput>,
): Promise<z.input<typeof ItemWithEvidence>> {
  const item = await findItem(services.pool, scopeOf(principal), id);
  if (item === null) throw notFound('Item');
  return withEvidence(item, await listEvidence(services.pool, principal, [id]));
}

/** Locks the item for a change. Throws AppError 404, 403 unless the principal may write memories of its visibility. */
async function requireItem(db: Queryable, { principal }: Context, id: string): Promise<ItemRow> {
  const item = await findItem(db, scopeOf(principal), id, { lock: true });
  if (item === null) throw notFound('Item');
  requireWriter(principal, visibilityOf({ projectId: item.project_id, userId: item.user_id }));
  return item;
}

/**
 * POST /v1/memory/items/{id}/confirm: makes a proposal active. Throws AppError 404, 403 `person_required` if a token confirms an item that
 * only a person may, 409 `not_proposed`, `no_evidence`, 422 `not_supersedable`.
 */
export async function confirmItem(
  ctx: Context,
  { id, supersedes }: z.output<typeof ConfirmInput>,
): Promise<z.input<typeof ItemWithEvidence>> {
  const { principal, services } = ctx;
  const { tenantId, userId } = principal;
  const at = new Date(services.clock.now());
  await inItemTransaction(services.pool, tenantId, async db => {
    const item = await requireItem(db, ctx, id);
    if (item.status === 'active' && supersedes === undefined) return;
    if (item.status !== 'proposed') throw conflict('not_proposed', `The item is ${item.status}.`);
    const person = isPerson(ctx);
    if (!person) requireConfirmable(item);
    const evidence = await listEvidence(db, principal, [id]);
    if (item.author === 'machine' && evidence.length === 0) {
      throw conflict('no_evidence', 'The evidence of this item was forgotten.');
    }
    const old = await supersededBy(db, ctx, item, supersedes ?? item.supersedes);
    // A review by a person makes an item trusted, unless its evidence is from outside.
    const vouched = person && evidence.every(({ trust }) => trust === 'trusted') ? { trust: 'trusted' as const } : {};
    const change = { status: 'active', confirmedBy: userId, confirmedAt: at, ...vouched } as const;
    await updateItem(db, { tenantId, id }, change, at);
    if (old !== null) await supersede(db, tenantId, { old, newId: id, validFrom: item.valid_from, at });
  });
  return getMemoryItem(ctx, { id });
}

/** Throws AppError 403 `person_required` for items that a machine may not make active (belief/basis.ts). */
function requireConfirmable(item: ItemRow): void {
  if (item.trust === 'untrusted')
    throw personRequired('No quote of a person states this: a person has to confirm it in the console.');
  if (waitsForPerson({ kind: item.kind, place: { userId: item.user_id } }))
    throw personRequired('Instructions, and items that others see, have to be confirmed by a person in the console.');
}

async function supersededBy(db: Queryable, ctx: Context, item: ItemRow, id: string | null): Promise<ItemRow | null> {
  if (id === null) return null;
  // The item superseded the other one before it was put back into review.
  const known = await findItem(db, scopeOf(ctx.principal), id);
  if (known?.status === 'superseded' && known.superseded_by === item.id) return null;
  const place = {
    tenantId: ctx.principal.tenantId,
    projectId: item.project_id,
    userId: item.user_id,
    workflowId: item.workflow_id,
    agentId: item.agent_id,
  };
  const by = { place, subject: item.subject, isPerson: isPerson(ctx) };
  return requireSupersedable(db, scopeOf(ctx.principal), id, by);
}

/**
 * PATCH /v1/memory/items/{id}. Only a person may change the words, which then need no evidence. Throws AppError 404, 403 `person_required`, 409
 * `not_superseded`, `not_reviewable`, 422 `contains_credential`.
 */
export async function patchItem(
  ctx: Context,
  input: z.output<typeof PatchItemInput>,
): Promise<z.input<typeof ItemWithEvidence>> {
  const { principal, services } = ctx;
  const { tenantId } = principal;
  const { id, subject, text, kind } = input;
  const rewrites = subject !== undefined || text !== undefined || kind !== undefined;
  if (rewrites) {
    const written = [
      { path: 'subject', text: subject ?? '' },
      { path: 'text', text: text ?? '' },
    ];
    await refuseCredentials(ctx, written);
  }
  const at = new Date(services.clock.now());
  await inItemTransaction(services.pool, tenantId, async db => {
    const item = await requireItem(db, ctx, id);
    if (!isPerson(ctx) && revives(item, input.expires_at, at)) requireConfirmable(item);
    const change: ItemChange = {
      ...(input.pinned === undefined ? {} : { pinned: input.pinned }),
      ...(input.expires_at === undefined ? {} : { expiresAt: expiryOf(input.expires_at) }),
      ...statusChange(item, input.status),
    };
    if (rewrites) {
      if (!isPerson(ctx)) throw personRequired('Only a person may reword an item, in the console: propose a new one.');
      const content = { subject: subject ?? item.subject, text: text ?? item.text, kind: kind ?? item.kind };
      // A new text is the person's own. A new kind or subject is not.
      const isReworded = text !== undefined && text !== item.text;
      const evidence = isReworded ? [] : await listEvidence(db, principal, [id]);
      const origin = evidence.every(({ trust }) => trust === 'trusted') ? 'trusted' : 'untrusted';
      requireMayInstruct(content.kind, origin, 'item');
      await rewriteItem(db, { tenantId, id }, content, at);
      if (isReworded) Object.assign(change, { author: 'person', trust: 'trusted' });
    }
    if (input.reinstate) {
      if (item.status !== 'superseded') throw conflict('not_superseded', `The item is ${item.status}.`);
      if (!isPerson(ctx)) requireConfirmable(item);
      await reinstate(db, tenantId, { old: item, at, isPerson: isPerson(ctx) });
    }
    await updateItem(db, { tenantId, id }, change, at);
  });
  return getMemoryItem(ctx, { id });
}

const expiryOf = (at: string | null): Date | null => (at === null ? null : new Date(at));

/** Returns whether the new expiry makes an expired item valid again. */
const revives = (item: ItemRow, expiresAt: string | null | undefined, at: Date): boolean =>
  expiresAt !== undefined &&
  item.expires_at !== null &&
  item.expires_at <= at &&
  !(expiresAt !== null && new Date(expiresAt) <= at);

function statusChange(item: ItemRow, status: 'rejected' | 'proposed' | undefined): ItemChange {
  if (status === undefined || status === item.status) return {};
  if (item.status === 'superseded') throw conflict('not_reviewable', 'The item is superseded: reinstate it first.');
  return { status };
}

/** DELETE /v1/memory/items/{id}: deletes the item, its evidence and its embeddings. The audit log keeps the id. Throws AppError 403, 404. */
export async function deleteItem(ctx: Context, { id }: z.output<typeof ItemInput>): Promise<undefined> {
  const { tenantId } = ctx.principal;
  await inItemTransaction(ctx.services.pool, tenantId, async db => {
    await requireItem(db, ctx, id);
    await deleteItems(db, tenantId, [id]);
  });
}
