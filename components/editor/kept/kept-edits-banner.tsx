'use client';
import { History } from 'lucide-react';
import { Button } from '../../ui/button.tsx';
import type { KeptDraft } from './use-kept-edits.ts';

/** Offers changes that were never saved because the browser, the connection or the session ended first. */
export function KeptEditsBanner({ kept }: { kept: KeptDraft }) {
  const { offer, restore, discard } = kept;
  if (offer === null) return null;
  return (
    <section
      aria-label="Unsaved changes"
      className="flex flex-wrap items-center gap-2 border-b border-warn/40 bg-warn-soft px-3 py-2"
    >
      <History aria-hidden className="size-4 shrink-0 text-warn" />
      <p role="status" className="min-w-0 flex-1 basis-56 text-sm">
        Unsaved changes from <time dateTime={new Date(offer.at).toISOString()}>{timeOf(offer.at)}</time> were found.
      </p>
      <div className="flex gap-2">
        <Button size="sm" onClick={discard}>
          Discard
        </Button>
        <Button size="sm" variant="primary" onClick={() => void restore()}>
          Restore
        </Button>
      </div>
    </section>
  );
}

/** Returns the time of day, with the date if it is not today. */
function timeOf(at: number): string {
  const date = new Date(at);
  const isToday = date.toDateString() === new Date().toDateString();
  return date.toLocaleString('en', {
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
    ...(isToday ? {} : { day: 'numeric', month: 'short' }),
  });
}
