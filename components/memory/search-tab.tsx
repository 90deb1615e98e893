'use client';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Brain, SearchX } from 'lucide-react';
import { useTRPCClient } from '../trpc/provider.tsx';
import { Card } from '../ui/card.tsx';
import { Checkbox } from '../ui/checkbox.tsx';
import { cx } from '../ui/classes.ts';
import { SearchInput } from '../ui/search-input.tsx';
import { Select } from '../ui/select.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { EmptyState, ErrorState } from '../ui/states.tsx';
import { RelativeTime } from '../ui/time.tsx';
import { useUrlState } from '../ui/use-url-state.ts';
import { KindBadge, StatusBadge, TrustBadge, VisibilityBadge } from './badges.tsx';
import { SEARCH_KEY } from './use-refresh-memory.ts';
import { type Hit, kindLabels, kinds, signalLabels, visibilities, visibilityLabels, whyRanked } from './words.ts';

const MAX_QUERY = 1_000;

function useSearch() {
  const { get } = useUrlState();
  const query = get('q').slice(0, MAX_QUERY);
  const kind = ([...kinds, 'episode'] as const).find(each => each === get('kind'));
  const visibility = visibilities.find(each => each === get('scope'));
  const past = get('past') === '1';
  return { query, kind, visibility, past };
}

/** Searches memories and explains the rank of each hit. */
export function SearchTab() {
  const client = useTRPCClient();
  const { query, kind, visibility, past } = useSearch();
  const input = {
    query,
    k: 20,
    explain: true,
    include_superseded: past,
    ...(kind ? { kinds: [kind] } : {}),
    ...(visibility ? { visibility } : {}),
  };
  const asked = query.trim() !== '';
  const found = useQuery({
    queryKey: [SEARCH_KEY, input],
    queryFn: ({ signal }) => client.memory_search.mutate(input, { signal }),
    enabled: asked,
    placeholderData: keepPreviousData,
  });
  return (
    <>
      <Filters />
      <Card flush>
        {!asked ? (
          <EmptyState icon={Brain} title="Search memories">
            Use words, “exact phrases” and -excluded words. Each result shows why it ranks where it does.
          </EmptyState>
        ) : found.data ? (
          <Found result={found.data} stale={found.isPlaceholderData} />
        ) : found.isError ? (
          <ErrorState error={found.error} onRetry={() => void found.refetch()} />
        ) : (
          <Loading />
        )}
      </Card>
    </>
  );
}

function Filters() {
  const { get, set } = useUrlState();
  const { kind, visibility, past } = useSearch();
  return (
    <div className="mb-3 flex flex-wrap items-center gap-2">
      <SearchInput label="Search memories" value={get('q')} onChange={q => set({ q })} />
      <Select<Hit['kind'] | ''>
        label="Kind"
        className="w-40"
        value={kind ?? ''}
        options={[
          { value: '', label: 'Everything' },
          ...([...kinds, 'episode'] as const).map(value => ({ value, label: kindLabels[value] })),
        ]}
        onChange={value => set({ kind: value }, { push: true })}
      />
      <Select
        label="Visible to"
        className="w-40"
        value={visibility ?? ''}
        options={[
          { value: '' as const, label: 'Visible to everyone' },
          ...visibilities.map(value => ({ value, label: visibilityLabels[value] })),
        ]}
        onChange={value => set({ scope: value }, { push: true })}
      />
      <Checkbox
        label="Include past facts"
        checked={past}
        onCheckedChange={checked => set({ past: checked ? '1' : '' }, { push: true })}
      />
    </div>
  );
}

type Result = { hits: readonly Hit[]; degraded: readonly string[] };

function Found({ result, stale }: { result: Result; stale: boolean }) {
  const { hits, degraded } = result;
  return (
    <div aria-busy={stale} className={cx('transition-opacity', stale && 'opacity-60')}>
      {degraded.length > 0 ? <Degraded signals={degraded} /> : null}
      {hits.length === 0 ? (
        <EmptyState icon={SearchX} title="No matching memories">
          Try other words or fewer filters.
        </EmptyState>
      ) : (
        <ul aria-label="Memories">
          {hits.map(hit => (
            <HitRow key={hit.id} hit={hit} />
          ))}
        </ul>
      )}
    </div>
  );
}

function Degraded({ signals }: { signals: readonly string[] }) {
  const names = signals.map(signal => (signal in signalLabels ? signalLabels[signal as 'vector'] : signal));
  return (
    <p role="status" className="border-b bg-warn-soft px-4 py-2 text-sm text-warn">
      Searched without {names.join(' and ')}, which is not available right now.
    </p>
  );
}

function HitRow({ hit }: { hit: Hit }) {
  const { set } = useUrlState();
  const open = () =>
    set(hit.type === 'item' ? { item: hit.id } : { episode: hit.episode_id ?? '', chunk: hit.id }, { push: true });
  return (
    <li className="border-b last:border-b-0 hover:bg-hover/60">
      <button type="button" onClick={open} className="flex w-full flex-col gap-1 px-4 py-2.5 text-left">
        {hit.subject ? <span className="text-xs font-medium text-muted">{hit.subject}</span> : null}
        <span className="line-clamp-4 text-sm wrap-anywhere">{hit.text}</span>
        <span className="flex flex-wrap items-center gap-1.5 text-xs text-muted">
          <KindBadge kind={hit.kind} />
          <VisibilityBadge visibility={hit.visibility} />
          {hit.status === 'active' ? null : <StatusBadge status={hit.status} />}
          <TrustBadge trust={hit.trust} />
          {hit.source ? <span className="max-w-48 truncate">{hit.source}</span> : null}
          <RelativeTime at={hit.occurred_at} className="tabular-nums" />
          <span title={`Score ${hit.score.toFixed(4)}`}>{whyRanked(hit.ranks)}</span>
        </span>
      </button>
    </li>
  );
}

function Loading() {
  return (
    <div aria-hidden>
      {['w-80', 'w-60', 'w-72'].map(width => (
        <div key={width} className="flex flex-col gap-2 border-b px-4 py-3 last:border-b-0">
          <Skeleton className={cx('h-3.5 max-w-full', width)} />
          <Skeleton className="h-3 w-40" />
        </div>
      ))}
    </div>
  );
}
