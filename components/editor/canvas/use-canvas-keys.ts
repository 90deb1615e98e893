'use client';
import { type RefObject, useEffect, useRef } from 'react';
import type { Point } from '../../graph/layout.ts';
import { noteNodeId } from '../../graph/notes.ts';
import { isTyping } from '../../shell/use-hotkeys.ts';
import type { Place } from '../editor-actions.ts';
import type { Editor } from '../use-editor.ts';
import { type Direction, neighbour } from './flow-elements.ts';

type Keys = {
  editor: Editor;
  editable: boolean;
  onAdd: (place: Place) => void;
  /** Absent where there are no notes: in loops. */
  onAddNote: (() => void) | undefined;
  onSearch: () => void;
  /** Moves the focus to the form of a step or a note. */
  onInspect: (node: string) => void;
};

const ARROWS: Readonly<Record<string, Direction>> = {
  ArrowUp: 'up',
  ArrowDown: 'down',
  ArrowLeft: 'left',
  ArrowRight: 'right',
};

/** By how much Alt and an arrow key move what is selected: the distance of the dots. */
const NUDGE = 16;
const DIRECTIONS: Readonly<Record<Direction, Point>> = {
  up: { x: 0, y: -NUDGE },
  down: { x: 0, y: NUDGE },
  left: { x: -NUDGE, y: 0 },
  right: { x: NUDGE, y: 0 },
};

/** The node of the step or note that has the focus, or that is selected. */
function nodeAt(target: EventTarget | null, { selected, note }: Editor): string | undefined {
  const node = target instanceof Element ? target.closest<HTMLElement>('.react-flow__node') : null;
  return node?.dataset.id ?? (note === null ? [...selected].at(-1) : noteNodeId(note));
}

/** Does what a key means on the canvas; false: nothing. */
function onKey(event: KeyboardEvent, keys: Keys): boolean {
  const { editor, editable, onAdd, onAddNote, onSearch, onInspect } = keys;
  const node = nodeAt(event.target, editor);
  const mod = event.metaKey || event.ctrlKey;
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const arrow = ARROWS[key];
  if (mod && key === 'f') onSearch();
  else if (mod && key === 'a') editor.selectAll();
  else if (mod && key === 'd' && editable) editor.duplicateSelected();
  else if (!mod && event.altKey && arrow !== undefined && editable) editor.nudge(DIRECTIONS[arrow]);
  else if (mod || event.altKey) return false;
  else if (arrow !== undefined) {
    const next = node === undefined ? [...editor.places.keys()][0] : neighbour(editor.places, node, arrow);
    if (next) editor.showNode(next);
  } else if ((key === 'Enter' || key === 'F2') && node !== undefined) onInspect(node);
  else if (key === ' ' && node !== undefined) editor.showNode(node);
  else if (!editable) return false;
  else if (key === 'Tab') onAdd(node === undefined ? { kind: 'free' } : editor.placeAfter(node));
  else if (key === 'n' && onAddNote !== undefined) onAddNote();
  else if (key === 'Delete' || key === 'Backspace') editor.removeSelected();
  else if (key === 'd') editor.toggleDisabled();
  else return false;
  return true;
}

/**
 * The keys of the canvas, while the focus is in it. Tab adds a step; after Escape it leaves the canvas as it would elsewhere, so
 * that the keyboard is never caught (WCAG 2.1.2).
 */
export function useCanvasKeys(frame: RefObject<HTMLElement | null>, keys: Keys): void {
  const latest = useRef(keys);
  latest.current = keys;
  useEffect(() => {
    const canvas = frame.current;
    if (canvas === null) return;
    let leaving = false;
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.isComposing || isTyping(event.target)) return;
      const { editor } = latest.current;
      if (event.key === 'Escape') {
        leaving = true;
        editor.select(new Set());
        return;
      }
      // Buttons of the canvas keep Tab, Enter and Space for themselves.
      const onButton = event.target instanceof Element && event.target.closest('button') !== null;
      if (event.key === 'Tab' && (event.shiftKey || leaving || onButton)) return;
      if (onButton && (event.key === 'Enter' || event.key === ' ')) return;
      leaving = false;
      if (onKey(event, latest.current)) event.preventDefault();
    };
    canvas.addEventListener('keydown', onKeyDown);
    return () => canvas.removeEventListener('keydown', onKeyDown);
  }, [frame]);
  useClipboard(frame, latest);
}

/** Copies and pastes steps as JSON. Browsers send these events to the page where no text is selected, wherever the focus is. */
function useClipboard(frame: RefObject<HTMLElement | null>, keys: RefObject<Keys>): void {
  useEffect(() => {
    const isOurs = () => {
      const { activeElement } = document;
      const inside = frame.current?.contains(activeElement) || activeElement === document.body;
      return inside && !isTyping(activeElement) && document.querySelector('[role="dialog"]') === null;
    };
    const onCopy = (event: ClipboardEvent) => {
      const { editor, editable } = keys.current;
      if (!isOurs() || editor.selected.size === 0 || window.getSelection()?.isCollapsed === false) return;
      event.clipboardData?.setData('text/plain', editor.copySelected());
      event.preventDefault();
      if (event.type === 'cut' && editable) editor.removeSelected();
    };
    const onPaste = (event: ClipboardEvent) => {
      const { editor, editable } = keys.current;
      if (!isOurs() || !editable) return;
      if (editor.pasteText(event.clipboardData?.getData('text/plain') ?? '')) event.preventDefault();
    };
    document.addEventListener('copy', onCopy);
    document.addEventListener('cut', onCopy);
    document.addEventListener('paste', onPaste);
    return () => {
      document.removeEventListener('copy', onCopy);
      document.removeEventListener('cut', onCopy);
      document.removeEventListener('paste', onPaste);
    };
  }, [frame, keys]);
}
