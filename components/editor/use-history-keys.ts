'use client';
import { useEffect } from 'react';
import { toast } from '../ui/toaster.tsx';
import type { EditorStore } from './editor-store.ts';

/** Tells a person why undoing or redoing did nothing. */
export function sayProblem(problem: string | null): void {
  if (problem !== null) toast.warning(problem);
}

/**
 * ⌘Z and ⇧⌘Z (Ctrl elsewhere, and Ctrl+Y) undo and redo edits of the draft wherever on the page the focus is: the history of a
 * single text field would undo only part of what the one of the draft holds. Dialogs keep the keys for their own fields.
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
    // Before the fields themselves, whose own undo would run as well.
    window.addEventListener('keydown', onKeyDown, true);
    return () => window.removeEventListener('keydown', onKeyDown, true);
  }, [store, enabled]);
}
