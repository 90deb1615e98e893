'use client';
import { ChevronRight, ChevronsLeft } from 'lucide-react';
import type { ReactNode } from 'react';
import { Button } from './button.tsx';

/** Keyset pages: onward to older rows, or back to the newest. Back in the browser leads to the page before. */
export function Pager({
  cursor,
  next,
  onChange,
}: {
  /** The cursor of the page shown; empty on the first. */
  cursor: string;
  next: string | null;
  onChange: (cursor: string) => void;
}) {
  if (!cursor && !next) return null;
  return (
    <nav aria-label="Pages" className="flex items-center justify-end gap-2 border-t px-3 py-2">
      <Button
        size="sm"
        disabled={!cursor}
        icon={<ChevronsLeft aria-hidden className="size-3.5" />}
        onClick={() => onChange('')}
      >
        Newest
      </Button>
      <Button size="sm" disabled={!next} onClick={() => next && onChange(next)}>
        Older
        <ChevronRight aria-hidden className="size-3.5" />
      </Button>
    </nav>
  );
}

type GrowingProps = {
  list: { hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage: () => unknown };
  children: ReactNode;
};

/** Under a list that grows as it is read on; nothing once all of it is there. `children` names what more of it is. */
export function ReadOn(props: GrowingProps) {
  if (!props.list.hasNextPage) return null;
  return (
    <div className="flex justify-center border-t p-2">
      <ShowMore {...props} />
    </div>
  );
}

/** The button alone, for a short list within something else. */
export function ShowMore({ list, children, className }: GrowingProps & { className?: string }) {
  if (!list.hasNextPage) return null;
  return (
    <Button size="sm" className={className} pending={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
      {children}
    </Button>
  );
}
