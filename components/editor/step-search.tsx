'use client';
import { Search, X } from 'lucide-react';
import { type KeyboardEvent, useEffect, useMemo, useRef, useState } from 'react';
import { StepTile } from '../graph/step-icon.tsx';
import { IconButton } from '../ui/button.tsx';
import { cx } from '../ui/classes.ts';
import { type FoundStep, nameOf } from './found-steps.ts';

type SearchProps = {
  found: readonly FoundStep[];
  text: string;
  onText: (text: string) => void;
  onShow: (found: FoundStep) => void;
  onClose: () => void;
};

/** The maximum number of listed steps; Enter also reaches the others. */
const MAX_LISTED = 100;

/** Searches the steps of a graph. Enter and the arrow keys move through the results, Escape closes the search. */
export function StepSearch({ found, text, onText, onShow, onClose }: SearchProps) {
  const [at, setAt] = useState(-1);
  const count = useMemo(
    () => (found.length === 0 ? 'None' : `${at < 0 ? '' : `${at + 1} of `}${found.length}`),
    [found, at],
  );
  const show = (index: number) => {
    const next = found[index];
    if (next === undefined) return;
    setAt(index);
    onShow(next);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape') onClose();
    const isBack = event.key === 'ArrowUp' || (event.key === 'Enter' && event.shiftKey);
    if ((!isBack && event.key !== 'Enter' && event.key !== 'ArrowDown') || found.length === 0) return;
    event.preventDefault();
    show(isBack ? (Math.max(at, 0) + found.length - 1) % found.length : (at + 1) % found.length);
  };
  return (
    <search className="w-72 max-w-full rounded-lg border bg-surface shadow-sm">
      <div className="flex items-center gap-2 py-1 pr-1 pl-2">
        <Search aria-hidden className="size-3.5 shrink-0 text-faint" />
        <input
          // biome-ignore lint/a11y/noAutofocus: the user asked for it just now
          autoFocus
          aria-label="Search steps"
          placeholder="Name, ID or type"
          value={text}
          onChange={event => {
            setAt(-1);
            onText(event.target.value);
          }}
          onKeyDown={onKeyDown}
          className="h-6 w-full min-w-0 bg-transparent text-sm outline-none"
        />
        <span role="status" className="shrink-0 text-xs text-muted tabular-nums">
          {text.trim() === '' ? '' : count}
        </span>
        <IconButton label="Close the search" size="sm" tooltip={false} onClick={onClose}>
          <X aria-hidden className="size-3.5" />
        </IconButton>
      </div>
      {found.length === 0 ? null : <FoundList found={found.slice(0, MAX_LISTED)} at={at} onShow={show} />}
    </search>
  );
}

type ListProps = { found: readonly FoundStep[]; at: number; onShow: (index: number) => void };

/** The found steps, each with the loops around it. */
function FoundList({ found, at, onShow }: ListProps) {
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => {
    list.current?.children[at]?.scrollIntoView({ block: 'nearest' });
  }, [at]);
  return (
    <ul ref={list} aria-label="Found steps" className="max-h-32 overflow-y-auto border-t py-1 sm:max-h-60">
      {found.map(({ node, step, inside }, index) => (
        // A phone has room only for the step that is shown on the canvas.
        <li key={node} className={cx(at >= 0 && index !== at && 'max-sm:hidden')}>
          <button
            type="button"
            aria-current={index === at}
            onClick={() => onShow(index)}
            className={cx(
              'flex w-full items-center gap-2 px-2 py-1 text-left hover:bg-hover',
              index === at && 'bg-accent-soft',
            )}
          >
            <StepTile type={step.type} size="sm" />
            <span className="min-w-0 flex-1">
              <span className="block truncate text-sm">{nameOf(step)}</span>
              {inside.length === 0 ? null : (
                <span className="block truncate text-xs text-muted">in {inside.join(' › ')}</span>
              )}
            </span>
          </button>
        </li>
      ))}
    </ul>
  );
}
