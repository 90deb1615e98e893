import { useSyncExternalStore } from 'react';

let isCollecting = false;
const listeners = new Set<() => void>();

/** Calls the listener whenever the palette opens, closes, or learns of an entry; returns a function that ends this. */
export const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

/** Tells the listeners. */
export function notify(collecting = isCollecting): void {
  isCollecting = collecting;
  for (const listener of listeners) listener();
}

const never = () => false;

/** Whether the palette is open, and asks menus for their entries. */
export const useIsCollecting = (): boolean => useSyncExternalStore(subscribe, () => isCollecting, never);

/** Elements with many of their kind beside them: what they offer belongs to a row, not to the page. */
const ROWS = 'tr, li, [role="row"], [role="option"], nav, .react-flow';

/** Whether an element acts on the page as a whole. */
export const isOfPage = (element: Element | null): boolean =>
  element?.closest('#main') != null && element.closest(ROWS) === null;
