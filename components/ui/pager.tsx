'use client';
import { ChevronRight, ChevronsLeft } from 'lucide-react';
import type { ReactNode } from 'react';
import { Button } from './button.tsx';

/** Links for keyset paging: forward to older rows, or back to the newest. The browser's Back opens the previous page. */
export function Pager({
  cursor,
  next,
  onChange,
}: {
  /** The cursor of the shown page; empty on the first page. */
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

/** A button that loads more of a growing list, or nothing at its end. `children` names the items. */
export function ReadOn(props: GrowingProps) {
  if (!props.list.hasNextPage) return null;
  return (
    <div className="flex justify-center border-t p-2">
      <ShowMore {...props} />
    </div>
  );
}

/** The plain button, for a short list inside another component. */
export function ShowMore({ list, children, className }: GrowingProps & { className?: string }) {
  if (!list.hasNextPage) return null;
  return (
    <Button size="sm" className={className} pending={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
      {children}
    </Button>
  );
}
