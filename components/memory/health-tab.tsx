'use client';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { type Outputs, useTRPC } from '../trpc/provider.tsx';
import { Card } from '../ui/card.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { ErrorState } from '../ui/states.tsx';
import { useUrlState } from '../ui/use-url-state.ts';
import { EmbeddingCard } from './embedding-card.tsx';

type Health = Outputs['memory_health'];

/** The number of memories, the likely duplicates and contradictions among them, and the state of embeddings. */
export function HealthTab() {
  const trpc = useTRPC();
  const health = useQuery(trpc.memory_health.queryOptions({}));
  return (
    <div className="flex flex-col gap-4">
      <EmbeddingCard />
      {health.data ? (
        <>
          <Counts health={health.data} />
          <Pairs
            title="Likely duplicates"
            description="Active items with the same subject that say nearly the same thing."
            empty="No likely duplicates."
            pairs={health.data.duplicates}
          />
          <Pairs
            title="Contradictions"
            description="Proposals that would replace an active item."
            empty="No proposal contradicts an active item."
            pairs={health.data.contradictions}
          />
        </>
      ) : health.isError ? (
        <Card flush>
          <ErrorState error={health.error} onRetry={() => void health.refetch()} />
        </Card>
      ) : (
        <Card>
          <Skeleton className="h-24 w-full" />
        </Card>
      )}
    </div>
  );
}

function Counts({ health }: { health: Health }) {
  const { items, episodes, never_used: neverUsed } = health;
  return (
    <Card title="Memory at a glance">
      <dl className="grid grid-cols-2 gap-x-6 gap-y-3 sm:grid-cols-3 lg:grid-cols-6">
        <Count label="Active items">{items.active}</Count>
        <Count label="Waiting for review">{items.proposed}</Count>
        <Count label="Superseded">{items.superseded}</Count>
        <Count label="Rejected">{items.rejected}</Count>
        <Count label="Conversations, runs, files">{episodes}</Count>
        <Count label="Active for 30 days, never used">{neverUsed}</Count>
      </dl>
    </Card>
  );
}

function Count({ label, children }: { label: string; children: number }) {
  return (
    <div className="flex flex-col justify-between">
      <dt className="text-xs text-muted">{label}</dt>
      <dd className="text-lg font-semibold tabular-nums">{children.toLocaleString('en')}</dd>
    </div>
  );
}

function Pairs({
  title,
  description,
  empty,
  pairs,
}: {
  title: string;
  description: string;
  empty: ReactNode;
  pairs: Health['duplicates'];
}) {
  const { set } = useUrlState();
  const open = (item: string) => set({ item }, { push: true });
  return (
    <Card flush title={title} description={description}>
      {pairs.length === 0 ? (
        <p className="px-4 py-3 text-sm text-muted">{empty}</p>
      ) : (
        <ul aria-label={title}>
          {pairs.map(({ first, second }) => (
            <li key={`${first.id} ${second.id}`} className="border-b px-4 py-2.5 last:border-b-0">
              <p className="text-xs text-muted">{first.subject}</p>
              {[first, second].map(({ id, text }) => (
                <button
                  key={id}
                  type="button"
                  className="block w-full py-0.5 text-left text-sm wrap-anywhere hover:underline"
                  onClick={() => open(id)}
                >
                  {text}
                </button>
              ))}
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}
