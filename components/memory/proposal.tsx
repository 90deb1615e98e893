'use client';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { useTRPC } from '../trpc/provider.tsx';
import { Button } from '../ui/button.tsx';
import { Checkbox } from '../ui/checkbox.tsx';
import { cx } from '../ui/classes.ts';
import { Skeleton } from '../ui/skeleton.tsx';
import { FormError } from '../ui/states.tsx';
import { RelativeTime } from '../ui/time.tsx';
import { KindBadge, TrustBadge, VisibilityBadge } from './badges.tsx';
import { EvidenceList } from './evidence-list.tsx';
import type { Item } from './words.ts';

type Props = {
  item: Item;
  current: boolean;
  selected: boolean;
  onChoose: () => void;
  /** Absent if the user may not decide. */
  onToggle?: () => void;
  onAccept?: () => void;
  onReject?: () => void;
  onEdit?: () => void;
};

/** Shows a proposal. The current one also shows its evidence and the item that it would supersede. */
export function Proposal({ item, current, selected, onChoose, onToggle, onAccept, onReject, onEdit }: Props) {
  const row = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (current) row.current?.scrollIntoView({ block: 'nearest' });
  }, [current]);
  return (
    <li
      ref={row}
      aria-current={current ? 'true' : undefined}
      className={cx('flex gap-1 border-b px-4 py-3 last:border-b-0', current ? 'bg-accent-soft' : 'hover:bg-hover/60')}
    >
      {onToggle ? (
        <Checkbox
          label={<span className="sr-only">Select {item.subject}</span>}
          checked={selected}
          onCheckedChange={onToggle}
        />
      ) : null}
      <div className="flex min-w-0 flex-1 flex-col gap-1">
        <button type="button" onClick={onChoose} className="text-left">
          <span className="block text-xs font-medium text-muted">{item.subject}</span>
          <span className="block text-sm wrap-anywhere">{item.text}</span>
        </button>
        <p className="flex flex-wrap items-center gap-1.5 text-xs text-muted">
          <KindBadge kind={item.kind} />
          <VisibilityBadge visibility={item.visibility} />
          <TrustBadge trust={item.trust} />
          <span>{item.author === 'machine' ? 'Proposed by a program' : 'Written by a person'}</span>
          <RelativeTime at={item.created_at} className="tabular-nums" />
        </p>
        {current ? <Reasons item={item} /> : null}
        {current && onAccept ? (
          <div className="mt-1 flex flex-wrap gap-2">
            <Button size="sm" variant="primary" onClick={onAccept}>
              Accept
            </Button>
            <Button size="sm" onClick={onEdit}>
              Edit
            </Button>
            <Button size="sm" onClick={onReject}>
              Reject
            </Button>
          </div>
        ) : null}
      </div>
    </li>
  );
}

function Reasons({ item }: { item: Item }) {
  const trpc = useTRPC();
  const read = useQuery(trpc.memory_items_get.queryOptions({ id: item.id }));
  const replaced = useQuery(
    trpc.memory_items_get.queryOptions({ id: item.supersedes ?? '' }, { enabled: item.supersedes !== null }),
  );
  if (read.isError) return <FormError error={read.error} />;
  if (!read.data) return <Skeleton className="h-4 w-60 max-w-full" />;
  return (
    <div className="mt-1 flex flex-col gap-1 text-sm">
      {replaced.data ? (
        <p>
          <span className="text-muted">Would replace: </span>
          <span className="wrap-anywhere">{replaced.data.text}</span>
        </p>
      ) : null}
      <EvidenceList item={read.data} />
    </div>
  );
}
