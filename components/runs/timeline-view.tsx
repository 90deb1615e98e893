'use client';
import { useEffect, useMemo, useRef, useState } from 'react';
import type { Snapshot } from '@/server/domains/runs/reading/run-state.ts';
import { useUrlState } from '../ui/use-url-state.ts';
import { readUnfolded, windowsAround, writeUnfolded } from './item-windows.ts';
import type { Steps } from './run-graph.tsx';
import { RunTimeline } from './run-timeline.tsx';
import { readZoom, writeZoom } from './timeline-scale.ts';
import type { LiveRun } from './use-run.ts';

type TimelineProps = {
  steps: Steps;
  snapshot: Snapshot;
  live: LiveRun;
  selected: string | null;
  onSelect: (step: string) => void;
};

/** The timeline. Folded gaps, unfolded loops and the zoom are stored in the URL. */
export function TimelineView(props: TimelineProps) {
  const url = useUrlState();
  // The URL is updated later, because keys can arrive faster than the URL changes.
  const [zoom, setZoom] = useState(() => readZoom(url.get('zoom')));
  const items = url.get('items');
  const unfolded = useMemo(() => readUnfolded(items), [items]);
  const { selected } = props;
  const followed = useRef<string | null>(null);
  useEffect(() => {
    if (selected === followed.current) return;
    followed.current = selected;
    const next = writeUnfolded(windowsAround(unfolded, selected));
    if (next !== writeUnfolded(unfolded)) url.set({ items: next });
  }, [selected, unfolded, url.set]);
  return (
    <div className="h-[65dvh]">
      <RunTimeline
        {...props}
        folded={url.get('fold') !== '0'}
        onFolded={folded => url.set({ fold: folded ? undefined : '0' })}
        zoom={zoom}
        onZoom={next => {
          setZoom(next);
          url.set({ zoom: writeZoom(next) });
        }}
        unfolded={unfolded}
        onUnfolded={loops => url.set({ items: writeUnfolded(loops) || undefined })}
      />
    </div>
  );
}
