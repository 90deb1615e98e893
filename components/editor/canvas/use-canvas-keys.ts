'use client';
import { type RefObject, useEffect, useRef } from 'react';
import type { Step } from '../../../server/domains/workflows/edits/index.ts';
import type { Point } from '../../graph/layout.ts';
import { nodeIn, placeOf } from '../../graph/levels.ts';
import { stepsOfLoop } from '../../graph/loop-steps.ts';
import { noteNodeId, noteOfNode } from '../../graph/notes.ts';
import { isTyping } from '../../ui/use-hotkeys.ts';
import type { Place } from '../editor-actions.ts';
import type { Editor } from '../use-editor.ts';
import type { Alignment } from './align.ts';
import { type Direction, neighbor } from './flow-elements.ts';

type Keys = {
  editor: Editor;
  editable: boolean;
  onAdd: (place: Place) => void;
  /** Absent in loops, which have no notes. */
  onAddNote: (() => void) | undefined;
  onSearch: () => void;
  /** Moves the focus to the form of a step or a note. */
  onInspect: (node: string) => void;
  onToggleLoop: (loop: string, open: boolean) => void;
  /** Extracts the selected steps into a new workflow, or inlines the workflow that the selected step calls. */
  onExtract: () => void;
  /** Opens the dialog about the ways in which the workflow starts. */
  onStart: () => void;
  onToggleMap: () => void;
  isLoopOpen: (loop: string) => boolean;
};

const ARROWS: Readonly<Record<string, Direction>> = {
  ArrowUp: 'up',
  ArrowDown: 'down',
  ArrowLeft: 'left',
  ArrowRight: 'right',
};

/** The distance in pixels by which Alt and an arrow key move the selection: the spacing of the grid dots. */
const NUDGE = 16;
const DIRECTIONS: Readonly<Record<Direction, Point>> = {
  up: { x: 0, y: -NUDGE },
  down: { x: 0, y: NUDGE },
  left: { x: -NUDGE, y: 0 },
  right: { x: NUDGE, y: 0 },
};

/** Returns the step or the note node that has the focus, or else the selected one. */
function nodeAt(target: EventTarget | null, { inside, selected, note }: Editor): string | undefined {
  const node = target instanceof Element ? target.closest<HTMLElement>('.react-flow__node')?.dataset.id : undefined;
  const focused = node === undefined ? undefined : placeOf(node);
  // Keys apply to the edited level; a step on another level may have the same id.
  if (focused?.level === inside.join('.')) return focused.step;
  return note === null ? [...selected].at(-1) : noteNodeId(note);
}

/** Performs the canvas action of a key; returns false if the key has none. */
function onKey(event: KeyboardEvent, keys: Keys): boolean {
  const { editor, editable, onAdd, onAddNote, onSearch, onInspect } = keys;
  const node = nodeAt(event.target, editor);
  const mod = event.metaKey || event.ctrlKey;
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const arrow = ARROWS[key];
  if (mod && key === 'f') onSearch();
  else if (mod && key === 'a') editor.selectAll();
  else if (mod && key === 'd' && editable) editor.duplicateSelected();
  else if (!mod && event.altKey && event.shiftKey && editable) return align(event, editor);
  else if (!mod && event.altKey && arrow !== undefined && editable) editor.nudge(DIRECTIONS[arrow]);
  else if (mod || event.altKey) return false;
  else if (arrow !== undefined) {
    const next = node === undefined ? [...editor.places.keys()][0] : neighbor(editor.places, node, arrow);
    if (next && event.shiftKey && node !== undefined && noteOfNode(next) === null) editor.extend(next, node);
    else if (next) editor.showNode(next);
  } else if (key === 'Enter' && event.shiftKey) return enterLoop(keys, node);
  else if ((key === 'Enter' || key === 'F2') && node !== undefined) onInspect(node);
  else if (key === ' ' && node !== undefined) editor.showNode(node);
  else if (key === 'o') return toggleLoop(keys, node);
  else if (key === 's') keys.onStart();
  else if (key === 'm') keys.onToggleMap();
  else if (!editable) return false;
  else if (key === 'Tab') onAdd(node === undefined ? { kind: 'free' } : editor.placeAfter(node));
  else if (key === 'n' && onAddNote !== undefined) onAddNote();
  else if (key === 'Delete' || key === 'Backspace') editor.removeSelected();
  else if (key === 'd') editor.toggleDisabled();
  else if (key === 'l' && event.shiftKey) void editor.dissolveSelected();
  else if (key === 'l') void editor.groupSelected();
  else if (key === 'x') keys.onExtract();
  else return false;
  return true;
}

/**
 * Alt, Shift and a key align the selected steps, or distribute them at equal distances (H, V). Keyed by the physical key: with Alt, some
 * systems produce another letter.
 */
const ALIGNMENTS: Readonly<Record<string, Alignment>> = {
  ArrowLeft: 'left',
  ArrowRight: 'right',
  ArrowUp: 'top',
  ArrowDown: 'bottom',
  KeyC: 'center',
  KeyM: 'middle',
  KeyH: 'across',
  KeyV: 'down',
};

function align({ code }: KeyboardEvent, editor: Editor): boolean {
  const alignment = ALIGNMENTS[code];
  if (alignment !== undefined) editor.alignSelected(alignment);
  return alignment !== undefined;
}

/** Returns the node and the first step of a loop; null for any other step. */
function loopAt({ editor }: Keys, step: string | undefined): { node: string; first: string | undefined } | null {
  const loop = editor.drawing.steps.find(({ id }) => id === step);
  const steps = loop === undefined ? null : stepsOfLoop(loop as Step);
  return steps === null || loop === undefined
    ? null
    : { node: nodeIn(editor.inside.join('.'), loop.id), first: steps[0]?.id };
}

function toggleLoop(keys: Keys, step: string | undefined): boolean {
  const loop = loopAt(keys, step);
  if (loop !== null) keys.onToggleLoop(loop.node, !keys.isLoopOpen(loop.node));
  return loop !== null;
}

/** Expands a loop and selects its first step. If the loop is empty, opens the palette to add a step there. */
function enterLoop(keys: Keys, step: string | undefined): boolean {
  const loop = loopAt(keys, step);
  if (loop === null) return false;
  if (!keys.isLoopOpen(loop.node)) keys.onToggleLoop(loop.node, true);
  keys.editor.show(loop.first === undefined ? [] : [loop.first], 'canvas', loop.node);
  if (loop.first === undefined && keys.editable) keys.onAdd({ kind: 'free' });
  return true;
}

/**
 * Handles the keys of the canvas while it contains the focus. Tab adds a step. After Escape, Tab leaves the canvas as
 * it does elsewhere, so that the canvas is not a keyboard trap (WCAG 2.1.2).
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
        // Leaves an expanded loop first.
        if (!editor.leave()) editor.select(new Set());
        return;
      }
      // Buttons on the canvas handle Tab, Enter and Space themselves.
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

/** Copies and pastes steps as JSON. Browsers send clipboard events to the page if no text is selected, regardless of the focus. */
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
