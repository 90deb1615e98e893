import { ChevronLeft, ChevronRight, SkipBack, SkipForward } from 'lucide-react';
import type { MouseEvent } from 'react';
import type { Outputs } from '../trpc/provider.tsx';
import { IconButton } from '../ui/button.tsx';
import { failedNear } from './loop-place.ts';

type Items = Pick<Outputs['runs_get_loop_items'], 'total' | 'ended' | 'failed'> & { failed_items: readonly number[] };
type SwitcherProps = { found: Items; index: number; onGo: (index: number) => void };

/** Chooses an item of a loop: the one before, the next one, and the nearest ones that failed. */
export function ItemSwitcher({ found: { total, ended, failed, failed_items }, index, onGo }: SwitcherProps) {
  const count = total ?? 0;
  // In a graph, a click on the loop around it would select that.
  const goTo = (item: number | null) => (event: MouseEvent) => {
    event.stopPropagation();
    if (item !== null) onGo(item);
  };
  const { before, after } = failedNear(failed_items, index);
  return (
    <fieldset aria-label="Choose an item" className="m-0 flex w-full min-w-0 flex-wrap items-center gap-1 border-0 p-0">
      <IconButton label="Previous item" size="sm" disabled={index <= 0} onClick={goTo(index - 1)}>
        <ChevronLeft aria-hidden className="size-4" />
      </IconButton>
      <span aria-live="polite" className="px-1 text-sm tabular-nums">
        {(index + 1).toLocaleString()} of {count.toLocaleString()}
      </span>
      <IconButton label="Next item" size="sm" disabled={index >= count - 1} onClick={goTo(index + 1)}>
        <ChevronRight aria-hidden className="size-4" />
      </IconButton>
      {failed > 0 ? (
        <span className="ml-auto flex items-center gap-1">
          <span className="text-sm text-bad tabular-nums">{failed.toLocaleString()} failed</span>
          <IconButton label="Previous failed item" size="sm" disabled={before === null} onClick={goTo(before)}>
            <SkipBack aria-hidden className="size-3.5" />
          </IconButton>
          <IconButton label="Next failed item" size="sm" disabled={after === null} onClick={goTo(after)}>
            <SkipForward aria-hidden className="size-3.5" />
          </IconButton>
        </span>
      ) : (
        <span className="ml-auto text-xs text-muted tabular-nums">
          {ended === count ? 'None failed' : `${ended.toLocaleString()} ended`}
        </span>
      )}
    </fieldset>
  );
}
