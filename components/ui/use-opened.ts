import { useEffect, useState } from 'react';
import { whenIdle } from './when-idle.ts';

/**
 * Returns true once `open` has been true on this page: a dialog whose code is loaded on demand then stays rendered, so that it can close
 * like other dialogs.
 */
export function useOpened(open: boolean): boolean {
  const [opened, setOpened] = useState(open);
  if (open && !opened) setOpened(true);
  return opened || open;
}

/**
 * Loads code when the page is idle, after the JavaScript that the page needs first. Opening it later must not fail if the server cannot be
 * reached, because the failure would replace the page and its unsaved input.
 */
export function useLoadedEarly(load: () => Promise<unknown>): void {
  useEffect(() => {
    // Ignored here: the component that needs the code fails again and shows the error.
    whenIdle(() => void load().catch(() => undefined));
  }, [load]);
}

/**
 * Returns the properties of a button that opens a dialog: `load` fetches the code when the pointer or the focus reaches the button, before
 * the click.
 */
export function loadingBeforeClick(load: () => Promise<unknown>): { onPointerEnter: () => void; onFocus: () => void } {
  // Ignored here: the dialog fails again and shows the error.
  const preload = () => void load().catch(() => undefined);
  return { onPointerEnter: preload, onFocus: preload };
}
