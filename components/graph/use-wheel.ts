'use client';
import { type RefObject, useEffect, useState } from 'react';

/** From this width on an editor fills the window, so that there is no page to scroll. */
const FILLS_WINDOW = '(min-width: 1024px)';

type Wheel = { panOnScroll: boolean; zoomOnScroll: false; preventScrolling: boolean };

/**
 * Returns what React Flow does with the wheel: with Ctrl or ⌘ it zooms; else it scrolls the page over a graph that does not have the focus,
 * and moves the graph where it has, or where the graph `fills` the window.
 */
export function useWheel(frame: RefObject<HTMLElement | null>, fills = false): Wheel {
  const [hasFocus, setFocus] = useState(false);
  const [isWide, setWide] = useState(false);
  useEffect(() => {
    const element = frame.current;
    const onFocus = () => setFocus(element?.contains(document.activeElement) === true);
    const onBlur = (event: FocusEvent) => {
      if (!(event.relatedTarget instanceof Node) || !element?.contains(event.relatedTarget)) setFocus(false);
    };
    element?.addEventListener('focusin', onFocus);
    element?.addEventListener('focusout', onBlur);
    return () => {
      element?.removeEventListener('focusin', onFocus);
      element?.removeEventListener('focusout', onBlur);
    };
  }, [frame]);
  useEffect(() => {
    const query = window.matchMedia(FILLS_WINDOW);
    const onChange = () => setWide(query.matches);
    onChange();
    query.addEventListener('change', onChange);
    return () => query.removeEventListener('change', onChange);
  }, []);
  const moves = hasFocus || (fills && isWide);
  return { panOnScroll: moves, zoomOnScroll: false, preventScrolling: moves };
}
