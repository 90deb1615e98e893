'use client';
import { useVirtualizer } from '@tanstack/react-virtual';
import { ListX } from 'lucide-react';
import { useRef } from 'react';
import type { Snapshot } from '@/server/domains/runs/reading/run-state.ts';
import type { GraphStepInput } from '../graph/layout.ts';
import { cx } from '../ui/classes.ts';
import { ScrollRegion } from '../ui/scroll-region.tsx';
import { EmptyState } from '../ui/states.tsx';
import { formatLocalClock } from '../ui/time.tsx';
import { groupsOf, matchingGroups, type Sentence } from './event-groups.ts';
import type { LiveRun } from './use-run.ts';

const ROW_PX = 30;

type Props = {
  snapshot: Snapshot;
  steps: readonly GraphStepInput[];
  live: LiveRun;
  selected: string | null;
  filter: { step: string; failuresOnly: boolean; q: string };
  onSelect: (step: string) => void;
};

type Line = { key: string } & (
  | { kind: 'title'; step: string | null; title: string }
  | { kind: 'sentence'; sentence: Sentence }
);

/** Describes the course of a run in sentences, step by step. */
export function CompactEvents({ snapshot, steps, live, selected, filter, onSelect }: Props) {
  const lines = matchingGroups(groupsOf(snapshot, live.state, steps), filter).flatMap((group): Line[] => [
    { key: group.step ?? '', kind: 'title', step: group.step, title: group.title },
    ...group.sentences.map((sentence, at) => ({
      key: `${group.step ?? ''} ${at}`,
      kind: 'sentence' as const,
      sentence,
    })),
  ]);
  if (lines.length === 0)
    return (
      <div className="rounded-lg border bg-surface">
        <EmptyState icon={ListX} title="No events to show">
          No step matches these filters.
        </EmptyState>
      </div>
    );
  return <Lines lines={lines} selected={selected} onSelect={onSelect} />;
}

type LinesProps = Pick<Props, 'selected' | 'onSelect'> & { lines: readonly Line[] };

/** Renders the lines in view. It is a separate component, so that scrolling does not compute the sentences again. */
function Lines({ lines, selected, onSelect }: LinesProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const rows = useVirtualizer({
    count: lines.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    overscan: 12,
  });
  return (
    <ScrollRegion ref={scroller} label="Events" className="min-h-0 flex-1 overflow-auto rounded-lg border bg-surface">
      <ol className="relative" style={{ height: rows.getTotalSize() }}>
        {rows.getVirtualItems().map(({ index, start }) => {
          const line = lines[index];
          return line === undefined ? null : (
            <li
              key={line.key}
              style={{ transform: `translateY(${start}px)`, height: ROW_PX }}
              className={cx(
                'absolute inset-x-0 flex items-center px-3 text-sm',
                line.kind === 'title' && index > 0 && 'border-t',
              )}
            >
              {line.kind === 'title' ? (
                <Title line={line} selected={selected} onSelect={onSelect} />
              ) : (
                <SentenceLine sentence={line.sentence} />
              )}
            </li>
          );
        })}
      </ol>
    </ScrollRegion>
  );
}

type TitleProps = { line: Line & { kind: 'title' }; selected: string | null; onSelect: (step: string) => void };

function Title({ line: { step, title }, selected, onSelect }: TitleProps) {
  if (step === null) return <span className="truncate font-medium">{title}</span>;
  return (
    <button
      type="button"
      aria-pressed={step === selected}
      onClick={() => onSelect(step)}
      className={cx('min-w-0 truncate rounded-sm font-medium hover:underline', step === selected && 'text-accent-text')}
    >
      {title}
    </button>
  );
}

function SentenceLine({ sentence: { at, text, failure } }: { sentence: Sentence }) {
  return (
    <span className="flex min-w-0 items-baseline gap-3 pl-3">
      <span className="w-24 shrink-0 text-right text-xs text-muted tabular-nums">
        {at === null ? '' : formatLocalClock(new Date(at).toISOString())}
      </span>
      <span className={cx('truncate', failure && 'text-bad')} title={text}>
        {text}
      </span>
    </span>
  );
}
