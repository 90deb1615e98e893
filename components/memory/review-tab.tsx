'use client';
import { useQuery } from '@tanstack/react-query';
import { CheckCheck } from 'lucide-react';
import { useState } from 'react';
import { usePermissions } from '../session/session.tsx';
import { useTRPC } from '../trpc/provider.tsx';
import { Button } from '../ui/button.tsx';
import { Card } from '../ui/card.tsx';
import { Checkbox } from '../ui/checkbox.tsx';
import { Kbd } from '../ui/kbd.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { EmptyState, ErrorState } from '../ui/states.tsx';
import { useHotkeys } from '../ui/use-hotkeys.ts';
import { EditItemDialog } from './edit-item.tsx';
import { Proposal } from './proposal.tsx';
import { type Decision, useDecisions } from './use-decisions.ts';
import { counted, type Item, mayWrite } from './words.ts';

/** The maximum number of proposals on the page, and of decisions in one request of the console (server/api/trpc.ts). */
const MAX_SHOWN = 50;

/** Lists proposals to accept or reject, separately or together, by mouse or keyboard. */
export function ReviewTab() {
  const trpc = useTRPC();
  const { decided, decide } = useDecisions();
  const list = useQuery(
    trpc.memory_items_list.queryOptions({ status: 'proposed', limit: MAX_SHOWN }, { refetchInterval: 10_000 }),
  );
  const waiting = list.data?.items.filter(item => !decided.has(item.id));
  return (
    <Card flush>
      {waiting ? (
        <Waiting items={waiting} more={list.data?.next_cursor !== null} decide={decide} />
      ) : list.isError ? (
        <ErrorState error={list.error} onRetry={() => void list.refetch()} />
      ) : (
        <div aria-hidden className="flex flex-col gap-3 p-4">
          <Skeleton className="h-4 w-72 max-w-full" />
          <Skeleton className="h-4 w-56" />
          <Skeleton className="h-4 w-64" />
        </div>
      )}
    </Card>
  );
}

type WaitingProps = {
  items: readonly Item[];
  more: boolean;
  decide: (items: readonly Item[], decision: Decision) => void;
};

function Waiting({ items, more, decide }: WaitingProps) {
  const permissions = usePermissions();
  const [chosen, setChosen] = useState<string | null>(null);
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [editing, setEditing] = useState<Item | null>(null);
  const current = items.find(({ id }) => id === chosen) ?? items[0];
  const at = current === undefined ? -1 : items.indexOf(current);
  const decidable = items.filter(({ visibility }) => mayWrite(visibility, permissions));
  const picked = decidable.filter(({ id }) => selected.has(id));
  const mayDecide = current !== undefined && decidable.includes(current);
  const move = (offset: 1 | -1) => setChosen(items[at + offset]?.id ?? current?.id ?? null);
  /** Decides on items and selects the next proposal. */
  const finish = (decidedItems: readonly Item[], decision: Decision) => {
    const gone = new Set(decidedItems.map(({ id }) => id));
    const rest = items.filter(({ id }) => !gone.has(id));
    setChosen((items.slice(at).find(({ id }) => !gone.has(id)) ?? rest.at(-1))?.id ?? null);
    setSelected(new Set());
    decide(decidedItems, decision);
  };
  useHotkeys(
    {
      j: () => move(1),
      k: () => move(-1),
      a: () => mayDecide && finish([current], 'accept'),
      r: () => mayDecide && finish([current], 'reject'),
      e: () => mayDecide && setEditing(current),
    },
    items.length > 0,
  );
  const toggle = (id: string) => {
    const next = new Set(selected);
    if (!next.delete(id)) next.add(id);
    setSelected(next);
  };
  return (
    <>
      <Toolbar
        waiting={items.length}
        more={more}
        all={decidable}
        picked={picked}
        onPick={ids => setSelected(new Set(ids))}
        onDecide={decision => finish(picked, decision)}
      />
      {items.length === 0 ? (
        <EmptyState icon={CheckCheck} title="Nothing to review">
          What programs and agents propose to remember appears here until someone accepts or rejects it.
        </EmptyState>
      ) : null}
      <ul aria-label="Proposals">
        {items.map(item => (
          <Proposal
            key={item.id}
            item={item}
            current={item === current}
            selected={selected.has(item.id)}
            {...(decidable.includes(item)
              ? {
                  onToggle: () => toggle(item.id),
                  onAccept: () => finish([item], 'accept'),
                  onReject: () => finish([item], 'reject'),
                  onEdit: () => setEditing(item),
                }
              : {})}
            onChoose={() => setChosen(item.id)}
          />
        ))}
      </ul>
      {editing ? (
        <EditItemDialog
          item={editing}
          action="Save and accept"
          onSaved={saved => finish([saved], 'accept')}
          onClose={() => setEditing(null)}
        />
      ) : null}
    </>
  );
}

type ToolbarProps = {
  waiting: number;
  more: boolean;
  all: readonly Item[];
  picked: readonly Item[];
  onPick: (ids: readonly string[]) => void;
  onDecide: (decision: Decision) => void;
};

function Toolbar({ waiting, more, all, picked, onPick, onDecide }: ToolbarProps) {
  const isAll = picked.length > 0 && picked.length === all.length;
  return (
    <div className="flex min-h-12 flex-wrap items-center gap-x-4 gap-y-2 border-b px-4 py-2">
      {all.length > 1 ? (
        <Checkbox
          label={<span className="sr-only">Select all</span>}
          checked={isAll}
          onCheckedChange={checked => onPick(checked ? all.map(({ id }) => id) : [])}
        />
      ) : null}
      <p role="status" className="text-sm text-muted">
        {more ? `The newest ${waiting} proposals waiting for review` : `${counted(waiting, 'proposal')} to review`}
      </p>
      {picked.length > 0 ? (
        <div className="flex gap-2">
          <Button size="sm" variant="primary" onClick={() => onDecide('accept')}>
            Accept {picked.length}
          </Button>
          <Button size="sm" onClick={() => onDecide('reject')}>
            Reject {picked.length}
          </Button>
        </div>
      ) : null}
      {waiting > 0 ? (
        <p className="ml-auto hidden items-center gap-1 text-xs text-muted lg:flex">
          <Kbd>j</Kbd> <Kbd>k</Kbd> next, previous <Kbd>a</Kbd> accept <Kbd>e</Kbd> edit <Kbd>r</Kbd> reject
        </p>
      ) : null}
    </div>
  );
}
