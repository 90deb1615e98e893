'use client';
import { type KeyboardEvent, type PointerEvent, type ReactNode, useCallback, useEffect, useRef, useState } from 'react';
import { isObject } from '@/server/platform/json.ts';
import { readStored, store } from '../ui/browser-storage.ts';

export const SIDE_WIDTH = { min: 360, max: 640, initial: 360 };
const KEY = 'baton:editor-panel';
const STEP = 16;

type Kept = { width: number; isOpen: boolean };

const clamp = (width: number): number => Math.round(Math.min(SIDE_WIDTH.max, Math.max(SIDE_WIDTH.min, width)));

/** Returns the width and the open state of the side panel, as stored in this browser. */
export function useSide() {
  const [kept, setKept] = useState<Kept>(readKept);
  useEffect(() => store(KEY, kept), [kept]);
  const resize = useCallback((width: number) => setKept(before => ({ ...before, width: clamp(width) })), []);
  const toggle = useCallback(() => setKept(before => ({ ...before, isOpen: !before.isOpen })), []);
  const show = useCallback(() => setKept(before => (before.isOpen ? before : { ...before, isOpen: true })), []);
  return { ...kept, resize, toggle, show };
}

function readKept(): Kept {
  const kept = readStored(KEY);
  const { width, isOpen } = isObject(kept) ? kept : {};
  return {
    width: typeof width === 'number' && Number.isFinite(width) ? clamp(width) : SIDE_WIDTH.initial,
    isOpen: isOpen !== false,
  };
}

type SideProps = {
  side: ReturnType<typeof useSide>;
  /** Whether the panel has columns and takes the full width except a part of the canvas. */
  columns: boolean;
  children: ReactNode;
};
/** The width of the columns: at most the width that they need, and never the whole canvas. */
const COLUMNS_WIDTH = 'min(1200px, calc(100% - 260px))';

/** The side panel beside the canvas, resizable by its edge. On small screens the panel is below the canvas. */
export function ResizableSide({ side, columns, children }: SideProps) {
  const { width, isOpen, resize } = side;
  const dragStart = useRef<{ x: number; width: number } | null>(null);
  const onPointerDown = (event: PointerEvent<HTMLElement>) => {
    event.currentTarget.setPointerCapture(event.pointerId);
    dragStart.current = { x: event.clientX, width };
  };
  const onPointerMove = (event: PointerEvent<HTMLElement>) => {
    if (dragStart.current !== null) resize(dragStart.current.width + dragStart.current.x - event.clientX);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const { min, max } = SIDE_WIDTH;
    const next = { ArrowLeft: width + STEP, ArrowRight: width - STEP, Home: max, End: min }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    resize(next);
  };
  return (
    <div
      className={`relative flex min-h-0 flex-col border-t bg-surface lg:w-(--side) lg:shrink-0 lg:border-t-0 lg:border-l ${isOpen ? '' : 'lg:hidden'}`}
      style={{ '--side': columns ? COLUMNS_WIDTH : `${width}px` } as React.CSSProperties}
    >
      {/* biome-ignore lint/a11y/useSemanticElements: an <hr> cannot be moved */}
      <div
        role="separator"
        aria-orientation="vertical"
        aria-label="Width of the panel"
        aria-valuenow={width}
        aria-valuemin={SIDE_WIDTH.min}
        aria-valuemax={SIDE_WIDTH.max}
        tabIndex={columns ? -1 : 0}
        hidden={columns}
        className="absolute inset-y-0 -left-1 z-10 hidden w-2 cursor-col-resize touch-none outline-none hover:bg-accent/30 focus-visible:bg-accent lg:not-[[hidden]]:block"
        onPointerDown={onPointerDown}
        onPointerMove={onPointerMove}
        onPointerUp={() => {
          dragStart.current = null;
        }}
        onDoubleClick={() => resize(SIDE_WIDTH.initial)}
        onKeyDown={onKeyDown}
      />
      {children}
    </div>
  );
}
