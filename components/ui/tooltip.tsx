'use client';
import dynamic from 'next/dynamic';
import { Slot } from 'radix-ui';
import { type PointerEvent, type ReactNode, useCallback, useEffect, useId, useRef, useState } from 'react';
import type { Side } from './tooltip-place.ts';

/** How long the pointer rests on a trigger before its tooltip opens. */
const DELAY_MS = 300;
/** For this time after a tooltip has closed, the next one opens without a delay. */
const NEIGHBOR_MS = 300;

// Loaded on demand. If the code cannot be loaded, the page works without tooltips: their text is also available elsewhere.
const TooltipBubble = dynamic(
  () =>
    import('./tooltip-bubble.tsx').then(
      module => module.TooltipBubble,
      () => () => null,
    ),
  { ssr: false },
);

/** Closes the open tooltip; there is never more than one. */
let closeOpened: (() => void) | undefined;
let closedAt = Number.NEGATIVE_INFINITY;

/** Returns whether the tooltip is open, and the trigger's handlers that open and close it. */
function useTooltipTrigger() {
  const [open, setOpen] = useState(false);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const close = useCallback(() => {
    clearTimeout(timer.current);
    if (closeOpened !== close) return;
    closeOpened = undefined;
    closedAt = performance.now();
    setOpen(false);
  }, []);
  const show = useCallback(() => {
    clearTimeout(timer.current);
    if (closeOpened === close) return;
    closeOpened?.();
    closeOpened = close;
    setOpen(true);
  }, [close]);
  useEffect(() => close, [close]);
  const onPointerMove = (event: PointerEvent) => {
    // Once per visit of the pointer: a tooltip that a press has closed stays closed.
    if (event.pointerType === 'touch' || timer.current !== undefined || closeOpened === close) return;
    timer.current = setTimeout(show, performance.now() - closedAt < NEIGHBOR_MS ? 0 : DELAY_MS);
  };
  return {
    open,
    close,
    handlers: {
      onPointerMove,
      // An open tooltip closes itself, unless the pointer moves to its text.
      onPointerLeave: () => {
        clearTimeout(timer.current);
        timer.current = undefined;
      },
      onPointerDown: close,
      onClick: close,
      onFocus: (event: { currentTarget: Element }) => {
        if (event.currentTarget.matches(':focus-visible')) show();
      },
      onBlur: close,
    },
  };
}

/** A short hint beside its trigger on hover and focus. It never contains information that is not available elsewhere. */
export function Tooltip({
  content,
  shortcut,
  side = 'top',
  children,
}: {
  content: ReactNode;
  shortcut?: string | undefined;
  side?: Side;
  /** One element that takes a ref. */
  children: ReactNode;
}) {
  const trigger = useRef<HTMLElement>(null);
  const id = useId();
  const { open, close, handlers } = useTooltipTrigger();
  return (
    <>
      <Slot.Root ref={trigger} {...(open ? { 'aria-describedby': id } : {})} {...handlers}>
        {children}
      </Slot.Root>
      {open ? (
        <TooltipBubble id={id} trigger={trigger} side={side} shortcut={shortcut} onClose={close}>
          {content}
        </TooltipBubble>
      ) : null}
    </>
  );
}
