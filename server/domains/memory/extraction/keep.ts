import type { Queryable } from '../../../platform/postgres/transaction.ts';
import { basisOf, mayBecomeActive } from '../belief/basis.ts';
import { canReplace } from '../belief/stated.ts';
import { subjectKey } from '../folding.ts';
import { sayAgain } from '../items/merge.ts';
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

/** How a candidate relates to an item of the same subject and place, as the model judged. */
export type Judgement = { itemId: string; relation: Relation };
export type Candidate = Grounded & { judgements: readonly Judgement[] };
/** `outside`: texts from outside in the conversation of its quote. */
type Judged = Candidate & { outside: readonly string[] };

/** The confidence of extracted items: no person has reviewed them yet, so they are less certain than a person's own. */
const CONFIDENCE = 0.8;

type Keeping = { scope: MemoryScope; place: ItemPlace; at: Date };

/** Makes items of candidates, or evidence of items that say the same. Returns what became of them. In a transaction of items. */
export async function keepCandidates(
  db: Queryable,
  candidates: readonly Candidate[],
  on: Keeping,
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
 * The item that says the same: in the same words, or in others, as the model judged. What is asked for is never believed twice: an active
 * item in other words goes before a proposal.
 */
async function findKnown(db: Queryable, candidate: Judged, on: Keeping): Promise<ItemRow | null> {
  const same = await findSameItem(db, on.place, candidate, on.at);
  if (same !== null && !(candidate.asked && same.status === 'proposed')) return same;
  const judged: ItemRow[] = [];
  for (const { itemId, relation } of candidate.judgements) {
    const item = relation === 'same' ? await findItem(db, on.scope, itemId, { lock: true }) : null;
    if (item !== null && item.status !== 'superseded' && isBeside(item, candidate, on)) judged.push(item);
  }
  return (
    judged.find(({ status }) => status === 'active') ?? same ?? judged.find(item => confirms(candidate, item)) ?? null
  );
}

/** The model may take what it once made up for the same: what is asked for confirms only what it states. */
const confirms = (candidate: Judged, item: ItemRow): boolean =>
  !candidate.asked || item.status !== 'proposed' || basisOf(item, [candidate]).isOwn;

/** Returns whether the item has this subject and place: no other item is changed, whatever the model answers. */
const isBeside = (item: ItemRow, { subject }: Judged, { place }: Keeping): boolean =>
  item.subject_key === subjectKey(subject) &&
  item.project_id === place.projectId &&
  item.user_id === place.userId &&
  item.workflow_id === place.workflowId &&
  item.agent_id === place.agentId;

/** An item of a person stays as it is. */
async function merge(db: Queryable, known: ItemRow, candidate: Judged, { scope, place, at }: Keeping): Promise<void> {
  await sayAgain(db, known, {
    tenantId: scope.tenantId,
    userId: scope.userId,
    evidence: evidenceOf(candidate),
    expiresAt: null,
    isPerson: false,
    at,
    mayBecomeActive: item => mayBe(candidate, { subject: item.subject, text: item.text, kind: item.kind, place }),
  });
}

type Content = Pick<ItemRow, 'subject' | 'text' | 'kind'> & { place: ItemPlace };

/** Whether an item with this content may become active by what the candidate quotes. */
const mayBe = (candidate: Judged, { kind, place, ...claim }: Content): boolean =>
  mayBecomeActive({ kind, place }, { isAsked: candidate.asked, isPerson: false, basis: basisOf(claim, [candidate]) });

/** Inserts an item; returns whether it has taken the place of another one. Where a person wrote that one, a person decides. */
async function propose(db: Queryable, candidate: Judged, on: Keeping): Promise<boolean> {
  const { scope, place, at } = on;
  const judged = await findSuperseded(db, candidate, on);
  const { subject, text, kind } = candidate;
  const active = mayBe(candidate, { subject, text, kind, place }) && judged?.author !== 'person';
  // What the model alone takes for the same matter, a person decides.
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

async function findSuperseded(db: Queryable, candidate: Judged, on: Keeping): Promise<ItemRow | null> {
  const judged = candidate.judgements.find(({ relation }) => relation === 'supersedes');
  if (judged === undefined) return null;
  const old = await findItem(db, on.scope, judged.itemId, { lock: true });
  return old !== null && old.status === 'active' && isBeside(old, candidate, on) ? old : null;
}
