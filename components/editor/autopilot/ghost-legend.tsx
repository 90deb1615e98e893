'use client';
import { X } from 'lucide-react';
import { IconButton } from '../../ui/button.tsx';
import { StatusBadge } from '../../ui/status-badge.tsx';
import type { GhostDrawing } from './use-ghosts.ts';

const order = ['added', 'changed', 'removed'] as const;

/** The legend over the canvas: the proposal that is shown, its changes by kind, and the way back to the draft. */
export function GhostLegend({ ghosts: { title, marks }, onClose }: { ghosts: GhostDrawing; onClose: () => void }) {
  const counts = Map.groupBy(marks.values(), mark => mark);
  const present = order.filter(mark => counts.has(mark));
  return (
    <div className="flex max-w-full flex-wrap items-center sm:flex-nowrap gap-2 rounded-lg border border-accent/40 bg-surface py-1 pr-1 pl-3 shadow-sm">
      <p className="min-w-0 truncate text-sm">
        Proposal: <span className="font-medium">{title}</span>
      </p>
      {present.map(mark => (
        <span key={mark} className="flex shrink-0 items-center gap-1 text-xs text-muted tabular-nums">
          {counts.get(mark)?.length}
          <StatusBadge kind="step" status={mark} />
        </span>
      ))}
      <IconButton label="Back to the draft" size="sm" onClick={onClose}>
        <X aria-hidden className="size-4" />
      </IconButton>
    </div>
  );
}
