import { useSyncExternalStore } from 'react';

let isCollecting = false;
const listeners = new Set<() => void>();

/** Calls the listener when the palette opens, closes, or gets a new entry. Returns a function that unsubscribes. */
export const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

/** Calls the listeners. */
export function notify(collecting = isCollecting): void {
  isCollecting = collecting;
  for (const listener of listeners) listener();
}

const never = () => false;

/** Returns true while the palette is open and collects the entries of menus. */
export const useIsCollecting = (): boolean => useSyncExternalStore(subscribe, () => isCollecting, never);

/** Matches elements of lists and tables, whose actions belong to a row and not to the page. */
const ROWS = 'tr, li, [role="row"], [role="option"], nav, .react-flow';

/** Returns true if an element acts on the whole page. */
export const isOfPage = (element: Element | null): boolean =>
  element?.closest('#main') != null && element.closest(ROWS) === null;
