'use client';
import { Panel } from '@xyflow/react';
import { type KeyboardEvent, useCallback, useMemo } from 'react';
import type { DrawnNote } from '../../graph/notes.ts';
import { useLevels } from '../../graph/use-levels.ts';
import { Skeleton } from '../../ui/skeleton.tsx';
import { useUrlState } from '../../ui/use-url-state.ts';
import { EditorCanvas } from '../canvas/editor-canvas.tsx';
import { type Direction, neighbor } from '../canvas/flow-elements.ts';
import type { FocusRequest } from '../use-editor.ts';
import { GhostLegend } from './ghost-legend.tsx';
import type { GhostDrawing } from './use-ghosts.ts';

const nothing = () => undefined;
const isClosed = () => false;
const noProblems: ReadonlyMap<string, number> = new Map();
const noSteps: ReadonlySet<string> = new Set();
const ARROWS: Readonly<Record<string, Direction>> = {
  ArrowUp: 'up',
  ArrowDown: 'down',
  ArrowLeft: 'left',
  ArrowRight: 'right',
};

type Props = { ghosts: GhostDrawing; notes: readonly DrawnNote[]; onClose: () => void };

/** The read-only graph of the draft with a proposal drawn over it. Steps can be selected. */
export function ProposalCanvas({ ghosts, notes, onClose }: Props) {
  const { drawing, marks } = ghosts;
  const url = useUrlState();
  const step = url.get('step');
  const select = useCallback(
    (ids: ReadonlySet<string>) => url.set({ step: [...ids].find(id => drawing.places.has(id)) }),
    [url.set, drawing.places],
  );
  const selected = useMemo(() => (drawing.places.has(step) ? new Set([step]) : noSteps), [drawing.places, step]);
  const focus = useMemo((): FocusRequest | null => (step === '' ? null : { step, keyboard: 'stays' }), [step]);
  const levels = useLevels(drawing, notes, isClosed);
  const onKeyDown = (event: KeyboardEvent) => {
    const node = event.target instanceof Element ? event.target.closest<HTMLElement>('.react-flow__node') : null;
    const at = node?.dataset.id ?? step;
    const arrow = ARROWS[event.key];
    const next = arrow === undefined ? null : (neighbor(drawing.places, at, arrow) ?? firstOf(drawing.places, at));
    if (next !== null) url.set({ step: next });
    else if (node !== null && (event.key === 'Enter' || event.key === ' ')) url.set({ step: at });
    else return;
    event.preventDefault();
  };
  return (
    <section
      aria-label="Graph of the proposal"
      onKeyDown={onKeyDown}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: the arrow keys need a place for the focus
      tabIndex={0}
      className="relative h-[60dvh] min-h-80 flex-1 overflow-hidden bg-sunken lg:h-auto lg:min-h-0"
    >
      {drawing.isLaidOut ? (
        <EditorCanvas
          levels={levels}
          notes={notes}
          problems={noProblems}
          marks={marks}
          selected={selected}
          selectedEdge={null}
          selectedNote={null}
          found={noSteps}
          editable={false}
          focus={focus}
          onFocused={nothing}
          onSelect={select}
          onSelectEdge={nothing}
          onSelectNote={nothing}
          onResizeNote={nothing}
          onOpenNode={nothing}
          onAdd={nothing}
          onMove={nothing}
          onConnect={nothing}
          onReconnect={nothing}
          onDisconnect={nothing}
          onMenu={nothing}
        />
      ) : (
        <Skeleton className="h-full w-full" />
      )}
      <Panel position="top-left" data-over-canvas className="m-2! max-w-[calc(100%-1rem)]">
        <GhostLegend ghosts={ghosts} onClose={onClose} />
      </Panel>
    </section>
  );
}

/** Returns the first step, where the arrow keys start if nothing is selected; null if `at` is a step. */
function firstOf(places: ReadonlyMap<string, unknown>, at: string): string | null {
  return places.has(at) ? null : (places.keys().next().value ?? null);
}
