'use client';
import { useQuery } from '@tanstack/react-query';
import { OctagonX, RotateCcw, Wrench, X } from 'lucide-react';
import dynamic from 'next/dynamic';
import { useState } from 'react';
import { useTRPC, useTRPCClient } from '../../trpc/provider.tsx';
import { Button } from '../../ui/button.tsx';
import { loadingBeforeClick, useOpened } from '../../ui/use-opened.ts';
import type { Selection } from '../../ui/use-selection.ts';
import { useUrlState } from '../../ui/use-url-state.ts';
import { type BulkAction, bulkWords } from './bulk-words.ts';
import { bulkFilterOf } from './stop-filter.ts';

const loadDialog = () => import('./bulk-dialog.tsx');
const BulkDialog = dynamic(() => loadDialog().then(module => module.BulkDialog), { ssr: false });

const actions = ['stop', 'rerun', 'continue'] as const;
const icons = { stop: OctagonX, rerun: RotateCcw, continue: Wrench };

type Props = { selection: Selection; workflowId: string | undefined };

/**
 * Buttons for actions on the selected runs, or on all runs that match the filters. Renders nothing while no run is
 * selected.
 */
export function BulkBar({ selection, workflowId }: Props) {
  const { get } = useUrlState();
  const [action, setAction] = useState<BulkAction | null>(null);
  const hasDialog = useOpened(action !== null);
  const matching = bulkFilterOf(get, workflowId);
  const count = useMatching(matching, selection.ids.size > 0);
  const filter = selection.all ? matching : { run_ids: [...selection.ids] };
  return (
    <>
      {selection.ids.size === 0 ? null : (
        <section aria-label="Selected runs" className="flex flex-wrap items-center gap-2">
          <span aria-live="polite" className="text-sm tabular-nums">
            {selection.all ? `All ${count ?? ''} that match` : `${selection.ids.size} selected`}
          </span>
          {selection.all || count === null ? null : (
            <Button size="sm" variant="ghost" onClick={selection.selectAll}>
              Select all {count} that match
            </Button>
          )}
          {actions.map(each => {
            const Icon = icons[each];
            return (
              <Button
                key={each}
                size="sm"
                icon={<Icon aria-hidden className="size-3.5" />}
                onClick={() => setAction(each)}
                {...loadingBeforeClick(loadDialog)}
              >
                {bulkWords[each].button}
              </Button>
            );
          })}
          <Button size="sm" variant="ghost" icon={<X aria-hidden className="size-3.5" />} onClick={selection.clear}>
            Clear selection
          </Button>
        </section>
      )}
      {hasDialog ? (
        <BulkDialog
          action={action}
          filter={filter}
          selected={selection.all ? null : selection.ids.size}
          onClose={() => setAction(null)}
          onStarted={selection.clear}
        />
      ) : null}
    </>
  );
}

/** Returns the number of runs that match the filters, both active and ended, as text; null while it is loading. */
function useMatching(filter: ReturnType<typeof bulkFilterOf>, enabled: boolean): string | null {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const { data } = useQuery({
    queryKey: [trpc.runs_preview_bulk.mutationKey(), 'all', filter],
    queryFn: async () => {
      const [active, ended] = await Promise.all([
        client.runs_preview_bulk.mutate({ action: 'stop', filter }),
        client.runs_preview_bulk.mutate({ action: 'rerun', filter }),
      ]);
      return { matching: active.matching + ended.matching, capped: active.capped || ended.capped };
    },
    enabled,
    // The same interval as the list of runs.
    staleTime: 0,
    refetchInterval: 3_000,
  });
  return data === undefined ? null : `${data.matching.toLocaleString('en')}${data.capped ? '+' : ''}`;
}
