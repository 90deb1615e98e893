'use client';
import { Quote } from 'lucide-react';
import { Button } from '../ui/button.tsx';
import { RelativeTime } from '../ui/time.tsx';
import { useUrlState } from '../ui/use-url-state.ts';
import { TrustBadge } from './badges.tsx';
import type { ItemWithEvidence } from './words.ts';

/** Lists the quotes on which an item rests, with links to their episodes. */
export function EvidenceList({ item }: { item: ItemWithEvidence }) {
  const { set } = useUrlState();
  const { evidence, evidence_count: count } = item;
  if (count === 0)
    return (
      <p className="text-sm text-muted">
        {item.author === 'person' ? 'Written by a person, so it needs no evidence.' : 'Its evidence was deleted.'}
      </p>
    );
  return (
    <>
      <ul aria-label="Evidence" className="flex flex-col gap-2">
        {evidence.map(each => (
          <li key={`${each.chunk_id} ${each.quote}`} className="flex items-start gap-2 text-sm">
            <Quote aria-hidden className="mt-1 size-3 shrink-0 text-faint" />
            <div className="min-w-0 flex-1">
              <blockquote className="wrap-anywhere">{each.quote}</blockquote>
              <p className="mt-0.5 flex flex-wrap items-center gap-1.5 text-xs text-muted">
                <RelativeTime at={each.added_at} className="tabular-nums" />
                <TrustBadge trust={each.trust} />
                <Button
                  size="sm"
                  variant="ghost"
                  onClick={() => set({ episode: each.episode_id, chunk: each.chunk_id }, { push: true })}
                >
                  Show the source
                </Button>
              </p>
            </div>
          </li>
        ))}
      </ul>
      {count > evidence.length ? (
        <p className="mt-1 text-xs text-muted">
          The newest {evidence.length} of {count} quotes.
        </p>
      ) : null}
    </>
  );
}
