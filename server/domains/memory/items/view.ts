import type { z } from 'zod';
import { isoTimestamp } from '../../../platform/clock.ts';
import type { Item, ItemWithEvidence } from '../schemas.ts';
import { visibilityOf } from '../scope.ts';
import type { EvidenceRow, ItemRow } from './store.ts';

const timeOf = (at: Date) => isoTimestamp(at.getTime());

export const itemOf = (row: ItemRow): z.input<typeof Item> => ({
  id: row.id,
  subject: row.subject,
  kind: row.kind,
  text: row.text,
  status: row.status,
  trust: row.trust,
  author: row.author,
  confidence: row.confidence,
  pinned: row.pinned,
  visibility: visibilityOf({ projectId: row.project_id, userId: row.user_id }),
  workflow_id: row.workflow_id,
  agent_id: row.agent_id,
  valid_from: timeOf(row.valid_from),
  valid_to: row.valid_to && timeOf(row.valid_to),
  supersedes: row.supersedes,
  superseded_by: row.superseded_by,
  expires_at: row.expires_at && timeOf(row.expires_at),
  uses: row.uses,
  last_used_at: row.last_used_at && timeOf(row.last_used_at),
  created_by: row.created_by,
  created_at: timeOf(row.created_at),
  confirmed_by: row.confirmed_by,
  confirmed_at: row.confirmed_at && timeOf(row.confirmed_at),
  updated_at: timeOf(row.updated_at),
});

/** The maximum amount of evidence that a response shows. `evidence_count` is the total. */
const MAX_EVIDENCE_SHOWN = 50;

export function withEvidence(row: ItemRow, all: readonly EvidenceRow[]): z.input<typeof ItemWithEvidence> {
  const own = all.filter(({ item_id }) => item_id === row.id);
  const evidence = own.slice(0, MAX_EVIDENCE_SHOWN).map(each => ({
    chunk_id: each.chunk_id,
    episode_id: each.episode_id,
    quote: each.quote,
    trust: each.trust,
    added_at: timeOf(each.added_at),
  }));
  return { ...itemOf(row), evidence, evidence_count: own.length };
}
