'use client';
import { useEffect } from 'react';
import { toast } from '../ui/toaster.tsx';
import type { EditorStore } from './editor-store.ts';

/** Shows the reason why undo or redo did nothing. */
export function sayProblem(problem: string | null): void {
  if (problem !== null) toast.warning(problem);
}

/**
 * Undoes and redoes edits of the draft on ⌘Z and ⇧⌘Z (elsewhere Ctrl and Ctrl+Y), wherever the focus is on the page: the history of a
 * single text field would undo only part of an edit of the draft. Dialogs keep the keys for their own fields.
 */
export function useHistoryKeys(store: EditorStore, enabled: boolean): void {
  useEffect(() => {
    if (!enabled) return;
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.isComposing || !(event.metaKey || event.ctrlKey) || event.altKey) return;
      const key = event.key.toLowerCase();
      if (key !== 'z' && key !== 'y') return;
      if (document.querySelector('[role="dialog"],[role="alertdialog"]') !== null) return;
      event.preventDefault();
      sayProblem(key === 'y' || event.shiftKey ? store.redo() : store.undo());
    };
    // Captures the key before the fields themselves, whose own undo would run as well.
    window.addEventListener('keydown', onKeyDown, true);
    return () => window.removeEventListener('keydown', onKeyDown, true);
  }, [store, enabled]);
}
