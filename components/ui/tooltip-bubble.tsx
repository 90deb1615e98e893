'use client';
import { type ReactNode, type RefObject, useEffect, useLayoutEffect, useRef } from 'react';
import { createPortal } from 'react-dom';
import { Kbd } from './kbd.tsx';
import { isAround, placeBubble, type Side } from './tooltip-place.ts';

/**
 * The text of an open tooltip. It stays open while the pointer is on it, and Escape closes it. It is placed without Radix, whose tooltip
 * would load 9 KiB that nothing else on a page needs.
 */
export function TooltipBubble({
  id,
  trigger,
  side,
  shortcut,
  onClose,
  children,
}: {
  id: string;
  trigger: RefObject<HTMLElement | null>;
  side: Side;
  shortcut: string | undefined;
  onClose: () => void;
  children: ReactNode;
}) {
  const bubble = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // The pointer may have left while the code was loaded.
    if (!trigger.current?.matches(':hover, :focus-visible')) onClose();
  }, [trigger, onClose]);
  usePlace(trigger, bubble, side);
  useClosing(trigger, bubble, onClose);
  return createPortal(
    <div
      ref={bubble}
      id={id}
      role="tooltip"
      // A modal dialog takes the pointer away from everything outside of it.
      className="pointer-events-auto fixed top-0 left-0 z-50 flex w-max max-w-80 items-center gap-2 rounded-md border bg-surface px-2 py-1 text-xs text-text shadow-pop"
    >
      {children}
      {shortcut ? <Kbd>{shortcut}</Kbd> : null}
    </div>,
    document.body,
  );
}

type Place = RefObject<HTMLElement | null>;

/** Keeps the bubble beside its trigger, also when its text or the window changes its size. */
function usePlace(trigger: Place, bubble: Place, side: Side): void {
  useLayoutEffect(() => {
    const box = bubble.current;
    if (box === null || trigger.current === null) return;
    const place = () => {
      const at = trigger.current?.getBoundingClientRect();
      if (at === undefined) return;
      const window = { width: document.documentElement.clientWidth, height: innerHeight };
      const { x, y } = placeBubble(at, { width: box.offsetWidth, height: box.offsetHeight }, side, window);
      box.style.transform = `translate(${x}px, ${y}px)`;
    };
    place();
    const sizes = new ResizeObserver(place);
    sizes.observe(box);
    sizes.observe(trigger.current);
    addEventListener('resize', place);
    return () => {
      sizes.disconnect();
      removeEventListener('resize', place);
    };
  }, [trigger, bubble, side]);
}

/** Closes the tooltip with Escape, when the page scrolls beneath it, and when the pointer leaves both the trigger and the text. */
function useClosing(trigger: Place, bubble: Place, onClose: () => void): void {
  useEffect(() => {
    // A tooltip that the focus has opened ignores a pointer that rests elsewhere.
    let wasOver = trigger.current?.matches(':hover') ?? false;
    const onPointerMove = ({ clientX, clientY }: PointerEvent) => {
      const boxes = [trigger, bubble].flatMap(each => each.current?.getBoundingClientRect() ?? []);
      const isOver = isAround({ x: clientX, y: clientY }, boxes);
      if (wasOver && !isOver) onClose();
      wasOver = isOver;
    };
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key !== 'Escape' || event.defaultPrevented) return;
      // A dialog around the trigger ignores a prevented key, and stays open.
      event.preventDefault();
      onClose();
    };
    const onScroll = ({ target }: Event) => {
      if (target instanceof Node && target.contains(trigger.current)) onClose();
    };
    const onLeave = () => wasOver && onClose();
    document.addEventListener('pointermove', onPointerMove);
    document.documentElement.addEventListener('pointerleave', onLeave);
    // In the capture phase of the window, before the dialog's own listener.
    addEventListener('keydown', onKeyDown, true);
    addEventListener('scroll', onScroll, true);
    return () => {
      document.removeEventListener('pointermove', onPointerMove);
      document.documentElement.removeEventListener('pointerleave', onLeave);
      removeEventListener('keydown', onKeyDown, true);
      removeEventListener('scroll', onScroll, true);
    };
  }, [trigger, bubble, onClose]);
}
