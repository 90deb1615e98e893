import { useStore } from '@xyflow/react';
import { ChevronsDownUp, ChevronsUpDown } from 'lucide-react';
import type { ReactNode } from 'react';
import { cx } from '../ui/classes.ts';
import { headInsets } from './containers.ts';
import { nodeSize } from './layout.ts';
import { farTile, ringOf, SecondLine, type StepNodeData, StepSign } from './step-card.tsx';
import { StepTile } from './step-icon.tsx';

type FrameProps = {
  step: string;
  data: StepNodeData;
  selected: boolean;
  found?: boolean;
  /** The distance from the left edge of the whole drawing. */
  x: number;
  width: number;
  headClass?: string;
  toggle: ReactNode;
  children?: ReactNode;
};

/** An open loop: a header for the loop itself, and below it a frame around its steps, which are separate nodes. */
export function LoopFrame(props: FrameProps) {
  const { step, data, selected, found = false, x, width, headClass, toggle, children } = props;
  const { left, right } = useHeadInsets(x, width);
  return (
    <div
      data-step={step}
      data-open
      data-status={data.status ?? undefined}
      data-disabled={data.disabled || undefined}
      className={cx(
        'flex h-full flex-col rounded-lg border',
        ringOf(data),
        'bg-family-logic/6!',
        data.disabled && 'border-dashed',
        selected && 'ring-2 ring-accent!',
        found && !selected && 'ring-2 ring-warn',
      )}
    >
      <div
        style={{ height: nodeSize.height, paddingLeft: left + 12, paddingRight: right + 12 }}
        className={cx(
          'pointer-events-auto flex items-center gap-2.5 overflow-hidden rounded-t-lg border-b bg-surface',
          headClass,
        )}
      >
        <StepTile type={data.type} size="lg" struck={data.disabled} className={farTile} />
        <div className="min-w-0 flex-1 group-data-[detail=far]/graph:hidden">
          <p className={cx('truncate text-sm font-medium', data.disabled && 'text-muted')}>{data.title}</p>
          <SecondLine data={data} />
        </div>
        <StepSign data={data} />
        {toggle}
      </div>
      {children}
    </div>
  );
}

/**
 * Returns the widths of the parts of a loop's header that are out of view. Moving the graph only rerenders loops whose
 * header is cut off.
 */
function useHeadInsets(x: number, width: number): { left: number; right: number } {
  const insets = useStore(({ transform: [left, , zoom], width: inView }) => {
    const { left: before, right: after } = headInsets({ x, width }, { x: left, y: 0, zoom, width: inView });
    return `${before} ${after}`;
  });
  const [left = 0, right = 0] = insets.split(' ').map(Number);
  return { left, right };
}

type ToggleProps = {
  title: string;
  isOpen: boolean;
  /** Whether Tab reaches the button; false if a key opens and closes loops. */
  isTabStop: boolean;
  onToggle: (open: boolean) => void;
};

/** A button that opens a loop, so that its steps are drawn in it, or closes it. */
export function LoopToggle({ title, isOpen, isTabStop, onToggle }: ToggleProps) {
  const Icon = isOpen ? ChevronsDownUp : ChevronsUpDown;
  return (
    <button
      type="button"
      tabIndex={isTabStop ? undefined : -1}
      aria-expanded={isOpen}
      aria-label={`Steps of ${title}`}
      title={isOpen ? 'Close the loop' : 'Open the loop'}
      onClick={event => {
        event.stopPropagation();
        onToggle(!isOpen);
      }}
      className={cx(
        'nodrag nopan nokey pointer-events-auto flex size-6 items-center justify-center rounded-full border bg-surface text-muted shadow-sm hover:border-accent hover:text-accent-text',
        isOpen ? 'ml-auto shrink-0' : 'absolute -top-2.5 -right-2.5',
      )}
    >
      <Icon aria-hidden className="size-3.5" />
    </button>
  );
}
