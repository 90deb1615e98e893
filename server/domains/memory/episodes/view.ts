import type { z } from 'zod';
import { isoTimestamp } from '../../../platform/clock.ts';
import type { Episode } from '../schemas.ts';
import { visibilityOf } from '../scope.ts';
import type { ChunkRow, EpisodeRow } from './store.ts';

type Wire = z.input<typeof Episode>;

export const summaryOf = (row: EpisodeRow): Omit<Wire, 'chunks'> => ({
  id: row.id,
  source: row.source,
  source_ref: row.source_ref,
  title: row.title,
  trust: row.trust,
  visibility: visibilityOf({ projectId: row.project_id, userId: row.user_id }),
  workflow_id: row.workflow_id,
  agent_id: row.agent_id,
  occurred_at: isoTimestamp(row.occurred_at.getTime()),
  created_at: isoTimestamp(row.created_at.getTime()),
});

export const chunkOf = (row: ChunkRow): Wire['chunks'][number] => ({
  id: row.id,
  position: row.position,
  role: row.role,
  trust: row.trust,
  text: row.text,
  occurred_at: isoTimestamp(row.occurred_at.getTime()),
});

/** Returns episodes with their chunks. */
export const episodesOf = (episodes: readonly EpisodeRow[], chunks: readonly ChunkRow[]): Wire[] =>
  episodes.map(episode => ({
    ...summaryOf(episode),
    chunks: chunks.filter(({ episode_id }) => episode_id === episode.id).map(chunkOf),
  }));
