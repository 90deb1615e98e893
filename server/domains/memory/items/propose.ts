import type { z } from 'zod';
import type { Context } from '../../../operation/context.ts';
import { invalid } from '../../../platform/errors.ts';
import type { Queryable } from '../../../platform/postgres/transaction.ts';
import { type Basis, basisOf, mayBecomeActive } from '../belief/basis.ts';
import type { Claim } from '../belief/stated.ts';
import { normalizeBlanks, subjectKey } from '../folding.ts';
import { refuseCredentials } from '../refuse-credentials.ts';
import { requireAbout } from '../require-about.ts';
import type { ProposeInput, ProposeOutput, Trust } from '../schemas.ts';
import { columnsOf, requireWriter, scopeOf } from '../scope.ts';
import { addRepetition } from './merge.ts';
import {
  addEvidence,
  findChunks,
  findSameItem,
  type ItemPlace,
  type ItemRow,
  inItemTransaction,
  insertItem,
  listOutside,
  type NewEvidence,
  type QuotableChunk,
} from './store.ts';
import { requireSupersedable, supersede } from './supersede.ts';

type Proposal = z.output<typeof ProposeInput>['items'][number];
type Proposed = z.input<typeof ProposeOutput>['items'][number];
type Judged = {
  place: ItemPlace;
  evidence: NewEvidence[];
  isPerson: boolean;
  /** Returns whose words support an item with this content. */
  basisOf: (content: Claim) => Basis;
  isAsked: boolean;
};

/** Returns whether a person acts with a session of the console. Tokens may belong to programs, and models call tools. */
export const isPerson = ({ principal, surface }: Pick<Context, 'principal' | 'surface'>): boolean =>
  principal.credential.kind === 'session' && surface !== 'mcp';

/**
 * POST /v1/memory/items: stores all items or none. Known items get further evidence. Throws AppError 403, 404, 422 `evidence_required`,
 * `quote_not_found`, `evidence_not_shared`, `untrusted_instruction`, `contains_credential`, `not_supersedable`.
 */
export async function proposeItems(
  ctx: Context,
  { items, remember }: z.output<typeof ProposeInput>,
): Promise<z.input<typeof ProposeOutput>> {
  const { principal, services } = ctx;
  for (const item of items) {
    requireWriter(principal, item.visibility);
    await requireAbout(ctx, item);
  }
  await refuseCredentials(
    ctx,
    items.flatMap(({ subject, text, evidence }, at) => [
      { path: `items[${at}].subject`, text: subject },
      { path: `items[${at}].text`, text },
      ...evidence.map(({ quote }, nth) => ({ path: `items[${at}].evidence[${nth}].quote`, text: quote })),
    ]),
  );
  const at = new Date(services.clock.now());
  return inItemTransaction(services.pool, principal.tenantId, async client => {
    const chunks = await findChunks(
      client,
      scopeOf(principal),
      items.flatMap(({ evidence }) => evidence.map(each => each.chunk_id)),
    );
    const outside = await listOutside(client, principal.tenantId, chunks);
    const judged = items.map((item, nth) => judge(ctx, item, { chunks, outside }, { path: `items[${nth}]`, remember }));
    const proposed: Proposed[] = [];
    for (const [nth, item] of items.entries()) {
      const judgement = judged[nth];
      if (judgement !== undefined) proposed.push(await store(client, ctx, item, judgement, at));
    }
    return { items: proposed };
  });
}

function judge(
  ctx: Context,
  item: Proposal,
  { chunks, outside }: { chunks: readonly QuotableChunk[]; outside: ReadonlyMap<string, string[]> },
  { path, remember }: { path: string; remember: boolean },
): Judged {
  const person = isPerson(ctx);
  if (subjectKey(item.subject) === '') {
    throw invalid('The subject contains no words.', [
      { path: `${path}.subject`, message: 'must contain a letter or digit' },
    ]);
  }
  const { tenantId } = ctx.principal;
  const columns = columnsOf(scopeOf(ctx.principal), item.visibility);
  const place = { ...columns, tenantId, workflowId: item.workflow_id ?? null, agentId: item.agent_id ?? null };
  if (item.evidence.length === 0 && !person) {
    const message = 'must hold a quote: only what a person writes in the console needs none';
    throw invalid('An item needs evidence.', [{ path: `${path}.evidence`, message }], 'evidence_required');
  }
  const quoted = item.evidence.map(({ chunk_id, quote }, nth) =>
    quotedChunk(chunks, { chunkId: chunk_id, quote, place, path: `${path}.evidence[${nth}]` }),
  );
  const origin = quoted.every(chunk => chunk.trust === 'trusted') ? 'trusted' : 'untrusted';
  requireMayInstruct(item.kind, origin, path);
  const evidence = item.evidence.map(({ chunk_id, quote }, nth) => ({
    chunkId: chunk_id,
    episodeId: quoted[nth]?.episode_id ?? '',
    quote,
    trust: quoted[nth]?.trust ?? 'untrusted',
  }));
  const quotes = quoted.map((chunk, nth) => ({
    chunk,
    quote: item.evidence[nth]?.quote ?? '',
    outside: outside.get(chunk.episode_id) ?? [],
  }));
  // A person in the console uses their own words.
  const basis = (content: Claim): Basis => (person ? { trust: origin, isOwn: true } : basisOf(content, quotes));
  return { place, evidence, isPerson: person, basisOf: basis, isAsked: remember };
}

/** Throws AppError 422 `untrusted_instruction` for an instruction whose evidence is from tools or files. */
export function requireMayInstruct(kind: string, trust: Trust, path: string): void {
  if (kind !== 'instruction' || trust === 'trusted') return;
  const message = 'cannot be instruction: its evidence comes from a tool or a file';
  throw invalid(
    'Untrusted text is never an instruction.',
    [{ path: `${path}.kind`, message }],
    'untrusted_instruction',
  );
}

function quotedChunk(
  chunks: readonly QuotableChunk[],
  { chunkId, quote, place, path }: { chunkId: string; quote: string; place: ItemPlace; path: string },
): QuotableChunk {
  const chunk = chunks.find(({ id }) => id === chunkId);
  if (chunk === undefined || !normalizeBlanks(chunk.text).includes(normalizeBlanks(quote))) {
    const message = 'does not stand in this chunk';
    throw invalid('A quote was not found.', [{ path: `${path}.quote`, message }], 'quote_not_found');
  }
  const shared =
    (chunk.user_id === null || chunk.user_id === place.userId) &&
    (chunk.project_id === null || chunk.project_id === place.projectId);
  if (!shared) {
    const message = 'is not visible to everybody who would see the item';
    throw invalid('The evidence is more private than the item.', [{ path, message }], 'evidence_not_shared');
  }
  return chunk;
}

async function store(db: Queryable, ctx: Context, item: Proposal, judged: Judged, at: Date): Promise<Proposed> {
  const { place, evidence, isPerson: person, isAsked } = judged;
  const { tenantId, userId } = ctx.principal;
  const expiresAt = item.expires_at === undefined ? null : new Date(item.expires_at);
  const known = await findSameItem(db, place, item, at);
  if (known !== null) {
    const mayBecome = (row: ItemRow) =>
      mayBecomeActive({ kind: row.kind, place }, { isAsked, isPerson: person, basis: judged.basisOf(row) });
    const again = { tenantId, userId, evidence, expiresAt, isPerson: person, at, mayBecomeActive: mayBecome };
    return { id: known.id, status: await addRepetition(db, known, again), merged: true };
  }
  const old =
    item.supersedes === undefined
      ? null
      : await requireSupersedable(db, scopeOf(ctx.principal), item.supersedes, { ...judged, subject: item.subject });
  const validFrom = new Date(item.valid_from ?? at);
  const basis = judged.basisOf(item);
  const active = mayBecomeActive({ kind: item.kind, place }, { isAsked, isPerson: person, basis });
  const status = active ? 'active' : 'proposed';
  const id = await insertItem(
    db,
    place,
    {
      subject: item.subject,
      kind: item.kind,
      text: item.text,
      status,
      trust: basis.trust,
      author: person ? 'person' : 'machine',
      confidence: item.confidence,
      validFrom,
      expiresAt,
      supersedes: item.supersedes ?? null,
      createdBy: userId,
    },
    at,
  );
  await addEvidence(db, { tenantId, itemId: id }, evidence, at);
  if (active && old !== null) await supersede(db, tenantId, { old, newId: id, validFrom, at });
  return { id, status, merged: false };
}
