'use client';
import { type RefObject, useEffect, useState } from 'react';

/** At this width or more, an editor fills the window, so the page does not scroll. */
const FILLS_WINDOW = '(min-width: 1024px)';

type Wheel = { panOnScroll: boolean; zoomOnScroll: false; preventScrolling: boolean };

/**
 * Returns React Flow's properties for the wheel. With Ctrl or ⌘ the wheel zooms. Otherwise it moves the graph if the graph has the
 * focus or `fills` the window, and else scrolls the page.
 */
export function useWheel(frame: RefObject<HTMLElement | null>, fills = false): Wheel {
  const [moves, setMoves] = useState(false);
  useEffect(() => {
    const element = frame.current;
    const query = window.matchMedia(FILLS_WINDOW);
    // In an editor that fills the window, the focus does not matter, so the component need not render again.
    const update = (focused: EventTarget | null) =>
      setMoves((fills && query.matches) || (focused instanceof Node && element?.contains(focused) === true));
    const onFocus = ({ target }: FocusEvent) => update(target);
    const onBlur = ({ relatedTarget }: FocusEvent) => update(relatedTarget);
    const onWidth = () => update(document.activeElement);
    onWidth();
    element?.addEventListener('focusin', onFocus);
    element?.addEventListener('focusout', onBlur);
    query.addEventListener('change', onWidth);
    return () => {
      element?.removeEventListener('focusin', onFocus);
      element?.removeEventListener('focusout', onBlur);
      query.removeEventListener('change', onWidth);
    };
  }, [frame, fills]);
  return { panOnScroll: moves, zoomOnScroll: false, preventScrolling: moves };
}
