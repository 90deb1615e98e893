'use client';
import { ChevronRight, ChevronsLeft } from 'lucide-react';
import { Button } from './button.tsx';

/** Keyset pages: onward to older rows, or back to the newest. Back in the browser leads to the page before. */
export function Pager({
  cursor,
  next,
  onChange,
}: {
  /** Of the page shown; empty on the first. */
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
