import { ChevronLeft, ChevronRight, SkipBack, SkipForward } from 'lucide-react';
import { IconButton } from '../ui/button.tsx';
import { WINDOW } from './item-windows.ts';
import { failedNear, placeIn } from './loop-place.ts';

/** The shown items of a loop, with the numbers of all items and of failed items. */
export type ItemWindow = {
  loop: string;
  name: string;
  depth: number;
  from: number;
  total: number;
  failed: number;
  failedItems: readonly number[];
};

type Props = {
  window: ItemWindow;
  selected: string | null;
  /** Shows the items that start at another index. */
  onFrom: (from: number) => void;
  /** Selects an item, which may not be shown yet. */
  onItem: (item: number) => void;
};

const insets = ['pl-5 sm:pl-6', 'pl-8 sm:pl-10', 'pl-10 sm:pl-14', 'pl-12 sm:pl-18'];

/** Pages through the items of a loop, and jumps to failed items. */
export function TimelineItems({
  window: { loop, name, depth, from, total, failed, failedItems },
  selected,
  onFrom,
  onItem,
}: Props) {
  // Where none is selected, from between the items that are shown and those before them.
  const { before, after } = failedNear(failedItems, placeIn(loop, selected)?.index ?? from - 0.5);
  return (
    <fieldset
      aria-label={`Items of ${name} that are shown`}
      className={`m-0 flex h-full min-w-0 items-center gap-1 border-0 p-0 pr-2 text-xs ${insets[depth] ?? insets.at(-1)}`}
    >
      <IconButton
        label={`Previous ${WINDOW} items`}
        size="sm"
        disabled={from === 0}
        onClick={() => onFrom(from - WINDOW)}
      >
        <ChevronLeft aria-hidden className="size-3.5" />
      </IconButton>
      <span aria-live="polite" className="whitespace-nowrap tabular-nums">
        {(from + 1).toLocaleString()}–{Math.min(total, from + WINDOW).toLocaleString()} of {total.toLocaleString()}
      </span>
      <IconButton
        label={`Next ${WINDOW} items`}
        size="sm"
        disabled={from + WINDOW >= total}
        onClick={() => onFrom(from + WINDOW)}
      >
        <ChevronRight aria-hidden className="size-3.5" />
      </IconButton>
      {failed === 0 ? null : (
        <span className="ml-2 flex items-center gap-1">
          <span className="whitespace-nowrap text-bad tabular-nums">{failed.toLocaleString()} failed</span>
          <IconButton
            label="Previous failed item"
            size="sm"
            disabled={before === null}
            onClick={() => before !== null && onItem(before)}
          >
            <SkipBack aria-hidden className="size-3.5" />
          </IconButton>
          <IconButton
            label="Next failed item"
            size="sm"
            disabled={after === null}
            onClick={() => after !== null && onItem(after)}
          >
            <SkipForward aria-hidden className="size-3.5" />
          </IconButton>
        </span>
      )}
    </fieldset>
  );
}
