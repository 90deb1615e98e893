'use client';
import { useEffect, useRef } from 'react';

/** The first keys of pairs. After any other key, the next key counts separately, however soon it follows. */
const FIRST_KEYS: readonly string[] = ['g'];

/** Returns true if the element itself uses keys, so that the page must not. */
export function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return (
    target.isContentEditable || target.closest('input, textarea, select, [role="textbox"], [role="combobox"]') !== null
  );
}

/** Returns true while a dialog, menu or list box is open, which handles keys first. */
function isCovered(): boolean {
  return document.querySelector('[role="dialog"],[role="alertdialog"],[role="menu"],[role="listbox"]') !== null;
}

/**
 * Handles page-wide keys: a single character (`j`, `?`), a pair whose first key is one of FIRST_KEYS (`g w`), or `mod+k` (⌘ on a Mac, Ctrl
 * elsewhere). Plain characters are ignored while typing and under an open dialog; `mod+…` always works.
 */
export function useHotkeys(keys: Record<string, () => void>, enabled = true): void {
  const current = useRef(keys);
  current.current = keys;
  useEffect(() => {
    if (!enabled) return;
    let prefix = '';
    let prefixAt = 0;
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.isComposing) return;
      const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
      if (event.metaKey || event.ctrlKey) {
        run(current.current[`mod+${key}`], event);
        return;
      }
      if (event.altKey || isTyping(event.target) || isCovered()) return;
      // The second key of a pair counts for one second after the first.
      const chord = prefix && event.timeStamp - prefixAt < 1000 ? `${prefix} ${key}` : key;
      prefix = FIRST_KEYS.includes(key) ? key : '';
      prefixAt = event.timeStamp;
      run(current.current[chord], event);
    };
    window.addEventListener('keydown', onKeyDown);
    return () => window.removeEventListener('keydown', onKeyDown);
  }, [enabled]);
}

function run(action: (() => void) | undefined, event: KeyboardEvent): void {
  if (!action) return;
  event.preventDefault();
  action();
}
