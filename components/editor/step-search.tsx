'use client';
import { Search, X } from 'lucide-react';
import { useMemo, useState } from 'react';
import type { GraphStepInput } from '../graph/layout.ts';
import { stepTypeLook } from '../graph/step-icon.tsx';
import { IconButton } from '../ui/button.tsx';

/** Returns the ids of the steps whose id, name or type holds the text. */
export function findSteps(steps: readonly GraphStepInput[], text: string): string[] {
  const wanted = text.trim().toLowerCase();
  if (wanted === '') return [];
  return steps
    .filter(({ id, name, type }) =>
      [id, name, type, stepTypeLook(type).label].some(each =>
        String(each ?? '')
          .toLowerCase()
          .includes(wanted),
      ),
    )
    .map(({ id }) => id);
}

type SearchProps = {
  found: readonly string[];
  text: string;
  onText: (text: string) => void;
  onShow: (id: string) => void;
  onClose: () => void;
};

/** Searches the steps of a graph: Enter shows the next one, Escape closes. */
export function StepSearch({ found, text, onText, onShow, onClose }: SearchProps) {
  const [at, setAt] = useState(-1);
  const count = useMemo(
    () => (found.length === 0 ? 'None' : `${at < 0 ? '' : `${at + 1} of `}${found.length}`),
    [found, at],
  );
  return (
    <search className="flex items-center gap-2 rounded-lg border bg-surface py-1 pr-1 pl-2 shadow-sm">
      <Search aria-hidden className="size-3.5 text-faint" />
      <input
        // biome-ignore lint/a11y/noAutofocus: the person asked for it just now
        autoFocus
        aria-label="Search steps"
        placeholder="Name, ID or type"
        value={text}
        onChange={event => {
          setAt(-1);
          onText(event.target.value);
        }}
        onKeyDown={event => {
          if (event.key === 'Escape') onClose();
          if (event.key !== 'Enter' || found.length === 0) return;
          const next = (at + (event.shiftKey ? found.length - 1 : 1)) % found.length;
          setAt(next);
          const id = found[next];
          if (id !== undefined) onShow(id);
        }}
        className="h-6 w-40 bg-transparent text-sm outline-none"
      />
      <span role="status" className="text-xs text-muted tabular-nums">
        {text.trim() === '' ? '' : count}
      </span>
      <IconButton label="Close the search" size="sm" tooltip={false} onClick={onClose}>
        <X aria-hidden className="size-3.5" />
      </IconButton>
    </search>
  );
}
