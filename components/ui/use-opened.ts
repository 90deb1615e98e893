import { useEffect, useState } from 'react';
import { whenIdle } from './when-idle.ts';

/**
 * Whether `open` has been true on this page: a dialog whose code is loaded on demand is rendered from then on, so that it can
 * close like any other.
 */
export function useOpened(open: boolean): boolean {
  const [opened, setOpened] = useState(open);
  if (open && !opened) setOpened(true);
  return opened || open;
}

/**
 * Fetches code once the page stands, after the JavaScript that it needs at first: what is opened later must not fail because the
 * server cannot be reached by then, which would take the page, and what was typed on it, away.
 */
export function useLoadedEarly(load: () => Promise<unknown>): void {
  useEffect(() => {
    // A failure is met again, and shown, by what needs the code.
    whenIdle(() => void load().catch(() => undefined));
  }, [load]);
}

/** The properties of a button that opens a dialog: `load` fetches its code before the click, when the button is approached. */
export function loadingBeforeClick(load: () => Promise<unknown>): { onPointerEnter: () => void; onFocus: () => void } {
  // A failure is met again, and shown, by the dialog itself.
  const begin = () => void load().catch(() => undefined);
  return { onPointerEnter: begin, onFocus: begin };
}
