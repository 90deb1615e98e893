import type { Queryable } from '../../../platform/postgres/transaction.ts';
import { basisOf, mayBecomeActive } from '../belief/basis.ts';
import { canReplace } from '../belief/stated.ts';
import { subjectKey } from '../folding.ts';
import { addRepetition } from '../items/merge.ts';
import {
  addEvidence,
  findItem,
  findSameItem,
  type ItemPlace,
  type ItemRow,
  insertItem,
  listOutside,
} from '../items/store.ts';
import { supersede } from '../items/supersede.ts';
import type { MemoryScope } from '../scope.ts';
import type { Grounded } from './candidates.ts';
import type { Relation } from './prompts.ts';
import type { ExtractionCounts } from './store.ts';

/** The relation of a candidate to an item of the same subject and place, according to the model. */
export type Judgement = { itemId: string; relation: Relation };
export type Candidate = Grounded & { judgements: readonly Judgement[] };
/** A candidate with the texts from outside in the conversation of its quote. */
type Judged = Candidate & { outside: readonly string[] };

/** The confidence of extracted items. It is below 1, because no person has reviewed them yet. */
const CONFIDENCE = 0.8;

type StoreContext = { scope: MemoryScope; place: ItemPlace; at: Date };

/** Stores candidates as items, or as evidence of items with the same statement. Returns the counts. Needs a transaction of items. */
export async function storeCandidates(
  db: Queryable,
  candidates: readonly Candidate[],
  on: StoreContext,
): Promise<Omit<ExtractionCounts, 'dropped'>> {
  const counts = { proposed: 0, merged: 0, superseded: 0 };
  const quoted = candidates.map(({ chunk }) => chunk);
  const outside = await listOutside(db, on.scope.tenantId, quoted);
  for (const each of candidates) {
    const candidate = { ...each, outside: outside.get(each.chunk.episode_id) ?? [] };
    const known = await findKnown(db, candidate, on);
    if (known === null) {
      const superseded = await propose(db, candidate, on);
      counts.proposed += 1;
      if (superseded) counts.superseded += 1;
    } else {
      await merge(db, known, candidate, on);
      counts.merged += 1;
    }
  }
  return counts;
}

const evidenceOf = ({ chunk, quote }: Judged) => [
  { chunkId: chunk.id, episodeId: chunk.episode_id, quote, trust: chunk.trust },
];

/**
 * Returns the item with the same statement: the words are the same, or the model judged them the same. If the user asked for the candidate, an
 * active item in other words takes precedence over a proposal in the same words. Otherwise the statement would be active twice.
 */
async function findKnown(db: Queryable, candidate: Judged, on: StoreContext): Promise<ItemRow | null> {
  const same = await findSameItem(db, on.place, candidate, on.at);
  if (same !== null && !(candidate.asked && same.status === 'proposed')) return same;
  const judged: ItemRow[] = [];
  for (const { itemId, relation } of candidate.judgements) {
    const item = relation === 'same' ? await findItem(db, on.scope, itemId, { lock: true }) : null;
    if (item !== null && item.status !== 'superseded' && isOfSamePlace(item, candidate, on)) judged.push(item);
  }
  return (
    judged.find(({ status }) => status === 'active') ?? same ?? judged.find(item => confirms(candidate, item)) ?? null
  );
}

/** Returns whether a candidate confirms an item. If the user asked for the candidate, its quote must state the proposed item. */
const confirms = (candidate: Judged, item: ItemRow): boolean =>
  !candidate.asked || item.status !== 'proposed' || basisOf(item, [candidate]).isOwn;

/** Returns whether the item has the candidate's subject and place. The model cannot change any other item. */
const isOfSamePlace = (item: ItemRow, { subject }: Judged, { place }: StoreContext): boolean =>
  item.subject_key === subjectKey(subject) &&
  item.project_id === place.projectId &&
  item.user_id === place.userId &&
  item.workflow_id === place.workflowId &&
  item.agent_id === place.agentId;

/** Adds a candidate as evidence to a known item. */
async function merge(
  db: Queryable,
  known: ItemRow,
  candidate: Judged,
  { scope, place, at }: StoreContext,
): Promise<void> {
  await addRepetition(db, known, {
    tenantId: scope.tenantId,
    userId: scope.userId,
    evidence: evidenceOf(candidate),
    expiresAt: null,
    isPerson: false,
    at,
    mayBecomeActive: item =>
      canBecomeActive(candidate, { subject: item.subject, text: item.text, kind: item.kind, place }),
  });
}

type Content = Pick<ItemRow, 'subject' | 'text' | 'kind'> & { place: ItemPlace };

/** Returns whether the quote of the candidate may make an item with this content active. */
const canBecomeActive = (candidate: Judged, { kind, place, ...claim }: Content): boolean =>
  mayBecomeActive({ kind, place }, { isAsked: candidate.asked, isPerson: false, basis: basisOf(claim, [candidate]) });

/** Inserts an item. Returns whether it superseded another item. Only a person supersedes an item that a person wrote. */
async function propose(db: Queryable, candidate: Judged, on: StoreContext): Promise<boolean> {
  const { scope, place, at } = on;
  const judged = await findSuperseded(db, candidate, on);
  const { subject, text, kind } = candidate;
  const active = canBecomeActive(candidate, { subject, text, kind, place }) && judged?.author !== 'person';
  // If only the model considers the two topics the same, a person decides.
  const old = active && judged !== null && !canReplace(judged.text, candidate, candidate.chunk.text) ? null : judged;
  const validFrom = new Date(Math.min(candidate.chunk.occurred_at.getTime(), at.getTime()));
  const id = await insertItem(
    db,
    place,
    {
      subject,
      kind,
      text,
      status: active ? 'active' : 'proposed',
      trust: basisOf(candidate, [candidate]).trust,
      author: 'machine',
      confidence: CONFIDENCE,
      validFrom,
      expiresAt: null,
      supersedes: old?.id ?? null,
      createdBy: scope.userId,
    },
    at,
  );
  await addEvidence(db, { tenantId: scope.tenantId, itemId: id }, evidenceOf(candidate), at);
  if (!active || old === null) return false;
  await supersede(db, scope.tenantId, { old, newId: id, validFrom, at });
  return true;
}

async function findSuperseded(db: Queryable, candidate: Judged, on: StoreContext): Promise<ItemRow | null> {
  const judged = candidate.judgements.find(({ relation }) => relation === 'supersedes');
  if (judged === undefined) return null;
  const old = await findItem(db, on.scope, judged.itemId, { lock: true });
  return old !== null && old.status === 'active' && isOfSamePlace(old, candidate, on) ? old : null;
}
