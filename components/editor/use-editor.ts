'use client';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import type { Branch, Json, Step } from '../../server/domains/workflows/edits/index.ts';
import type { Point } from '../graph/layout.ts';
import { drawnNotes, noteNodeId, noteOfNode, type Size } from '../graph/notes.ts';
import { toast } from '../ui/toaster.tsx';
import { useUrlState } from '../ui/use-url-state.ts';
import { type Drawing, useLayout } from './canvas/use-layout.ts';
import { change } from './change.ts';
import {
  copyText,
  graphSteps,
  type Place,
  type Places,
  pastedSteps,
  placeAfter,
  planBranch,
  planDisabling,
  planDuplicate,
  planLayout,
  planMoves,
  planPaste,
  planRemoval,
  planStep,
} from './editor-actions.ts';
import type { StepsDraft, StepsStore } from './loop-store.ts';
import { MAX_NOTES, planNote, planNoteChange, planNoteMoves } from './notes/note-actions.ts';

const none: ReadonlySet<string> = new Set();

/**
 * The selected steps. The URL has one selected step, too, so that it can be shared, but it only follows: Next hands its search
 * parameters on in a transition, and what is selected must be drawn with the next frame.
 */
function useSelectedSteps() {
  const url = useUrlState();
  const inUrl = url.get('step');
  const [ids, setIds] = useState<ReadonlySet<string>>(() => idsOf(inUrl));
  const written = useRef(inUrl);
  useEffect(() => {
    // Another link or Back, not an earlier selection of our own that arrives late.
    const isCurrent = (new URLSearchParams(window.location.search).get('step') ?? '') === inUrl;
    if (inUrl === written.current || !isCurrent) return;
    written.current = inUrl;
    setIds(idsOf(inUrl));
  }, [inUrl]);
  const select = useCallback(
    (next: ReadonlySet<string>) => {
      const [first = ''] = next;
      written.current = next.size === 1 ? first : '';
      setIds(next);
      url.set({ step: written.current });
    },
    [url.set],
  );
  return [ids, select] as const;
}

const idsOf = (step: string): ReadonlySet<string> => (step === '' ? none : new Set([step]));

/** Returns the selection on the canvas (steps, a connection or a note) and the functions that change it. */
function useSelection(drawing: Drawing) {
  const [ids, selectSteps] = useSelectedSteps();
  const [edge, setEdge] = useState<string | null>(null);
  const [note, setNote] = useState<string | null>(null);
  const { places } = drawing;
  const selected = useMemo(() => new Set([...ids].filter(id => places.has(id))), [ids, places]);
  const select = useCallback(
    (next: ReadonlySet<string>) => {
      selectSteps(next);
      setEdge(null);
      setNote(null);
    },
    [selectSteps],
  );
  const selectEdge = useCallback(
    (id: string | null) => {
      if (id !== null) select(none);
      setEdge(id);
    },
    [select],
  );
  const selectNote = useCallback(
    (id: string | null) => {
      if (id !== null) select(none);
      setNote(id);
    },
    [select],
  );
  return { selected, select, edge, selectEdge, note, selectNote };
}

/**
 * The node of a step or a note to bring into view (null: the canvas itself), and where the keyboard goes: to it, to its form, or
 * nowhere. The component that draws that place moves the focus once it is drawn, perhaps some frames later.
 */
export type FocusRequest = { step: string | null; keyboard: 'canvas' | 'form' | 'stays' };

/** Everything that canvas, toolbar, keys and inspector do to a draft. */
export type Editor = ReturnType<typeof useEditor>;

/** The state of the editor around a draft: what is selected, where it is drawn, and what can be done to it. */
export function useEditor(draft: StepsDraft) {
  const { store } = draft;
  const drawing = useLayout(graphSteps(draft.state.draft));
  const { notes: drafted } = draft.state.draft.graph;
  const notes = useMemo(() => drawnNotes({ notes: drafted }), [drafted]);
  const places = useMemo(
    () => new Map([...drawing.places, ...notes.map(note => [noteNodeId(note.id), note.position] as const)]),
    [drawing.places, notes],
  );
  const selection = useSelection(drawing);
  const [focus, setFocus] = useState<FocusRequest | null>(null);
  const { select, selectNote } = selection;
  const show = useCallback(
    (ids: readonly string[], keyboard: FocusRequest['keyboard'] = 'canvas') => {
      select(new Set(ids));
      const [first] = ids;
      if (first !== undefined) setFocus({ step: first, keyboard });
    },
    [select],
  );
  const showNode = useCallback(
    (node: string, keyboard: FocusRequest['keyboard'] = 'canvas') => {
      const note = noteOfNode(node);
      if (note === null) return show([node], keyboard);
      selectNote(note);
      setFocus({ step: node, keyboard });
    },
    [show, selectNote],
  );
  const latest = useRef({ drawing, ...selection });
  latest.current = { drawing, ...selection };
  const actions = useMemo(() => {
    const places = () => latest.current.drawing.places;
    const selected = () => [...latest.current.selected];
    const note = () => latest.current.note;
    return {
      ...stepActions(store, { places, selected, show }),
      ...connectionActions(store),
      ...noteActions(store, { places, selected, note, showNode }),
      /** Removes the selected steps, the selected connection or the selected note. */
      removeSelected: () => {
        const { edge, note } = latest.current;
        // The element that had the focus is gone: the keyboard stays on the canvas.
        setFocus({ step: null, keyboard: 'canvas' });
        if (note !== null) {
          if (change(store, [{ type: 'remove_note', note }])) latest.current.selectNote(null);
          return;
        }
        const found = latest.current.drawing.edges.find(({ id }) => id === edge);
        if (found) {
          change(store, [{ type: 'disconnect', from: found.from, to: found.to }]);
          latest.current.selectEdge(null);
        } else if (change(store, planRemoval(selected()))) select(none);
      },
    };
  }, [store, show, showNode, select]);
  /** Returns the keyboard to the canvas, as after a dialog is closed. */
  const refocus = useCallback(() => {
    const { note, selected } = latest.current;
    const [step = null] = note === null ? selected : [noteNodeId(note)];
    setFocus({ step, keyboard: 'canvas' });
  }, []);
  /** Called by the place that a request named, once it has the keyboard. */
  const onFocused = useCallback(() => setFocus(null), []);
  return { drawing, notes, places, ...selection, focus, onFocused, show, showNode, refocus, ...actions };
}

type Surroundings = { places: () => Places; selected: () => string[]; show: (ids: readonly string[]) => void };

function stepActions(store: StepsStore, { places, selected, show }: Surroundings) {
  const draft = () => store.state.draft;
  const add = (type: string, place: Place, fields?: Readonly<Record<string, Json>>) => {
    const plan = planStep(draft(), { type, fields }, place, places(), store.reservedIds);
    if (change(store, plan.edits)) show(plan.added);
  };
  const paste = (steps: readonly Step[]) => {
    const plan = planPaste(draft(), steps, store.reservedIds);
    if (change(store, plan.edits)) show(plan.added);
  };
  return {
    add,
    /** Where the next step goes unless a person says where: after the one selected step. */
    placeAfter: (step: string) => placeAfter(draft(), step),
    nextPlace: (): Place => {
      const [step, ...others] = selected();
      return step !== undefined && others.length === 0 ? placeAfter(draft(), step) : { kind: 'free' };
    },
    duplicateSelected: () => {
      const plan = planDuplicate(draft(), selected(), store.reservedIds);
      if (change(store, plan.edits)) show(plan.added);
    },
    toggleDisabled: () => void change(store, planDisabling(draft(), selected())),
    copySelected: () => copyText(draft(), selected()),
    /** Adds the steps in a text; false: there are none. */
    pasteText: (text: string): boolean => {
      const steps = pastedSteps(text);
      if (steps !== null) paste(steps);
      return steps !== null;
    },
    layOut: () => void change(store, planLayout(draft())),
    selectAll: () => show(draft().graph.steps.map(({ id }) => id)),
  };
}

type NoteSurroundings = Omit<Surroundings, 'show'> & {
  note: () => string | null;
  showNode: (node: string, keyboard: FocusRequest['keyboard']) => void;
};

/** Returns the actions on notes, and those on steps and notes alike. */
function noteActions(store: StepsStore, { places, selected, note, showNode }: NoteSurroundings) {
  const draft = () => store.state.draft;
  const plansOf = (moved: Places) => {
    const steps = new Map([...moved].filter(([node]) => noteOfNode(node) === null));
    return [...planNoteMoves(draft(), moved), ...(steps.size === 0 ? [] : planMoves(draft(), steps, places()))];
  };
  return {
    /** Adds an empty note beside the selected step, and leads to its form. */
    addNote: () => {
      const [step = null] = selected();
      const plan = planNote(draft(), step, places());
      if (plan === null) toast.error(`A workflow has at most ${MAX_NOTES} notes.`);
      else if (change(store, [plan.edit])) showNode(noteNodeId(plan.id), 'form');
    },
    resizeNote: (id: string, size: Size) => void change(store, planNoteChange(draft(), id, size)),
    /** Moves nodes of the canvas to other places. */
    moveNodes: (moved: Places) => void change(store, plansOf(moved)),
    /** Moves what is selected a little. */
    nudge: (by: Point) => {
      const id = note();
      const drawn = drawnNotes(draft().graph).find(each => each.id === id);
      const from = drawn
        ? [[noteNodeId(drawn.id), drawn.position] as const]
        : selected().map(step => [step, places().get(step)] as const);
      const moved = from.flatMap(([node, at]) => (at ? [[node, { x: at.x + by.x, y: at.y + by.y }] as const] : []));
      change(store, plansOf(new Map(moved)), `nudge ${moved.map(([node]) => node).join()}`);
    },
  };
}

type Ends = { from: string; to: string };

function connectionActions(store: StepsStore) {
  return {
    connect: (from: string, to: string, branch: Branch | undefined) =>
      void change(store, [{ type: 'connect', from, to, branch }]),
    disconnect: (from: string, to: string) => void change(store, [{ type: 'disconnect', from, to }]),
    setBranch: (from: string, to: string, branch: Branch | null) => void change(store, planBranch(from, to, branch)),
    reconnect: (old: Ends, next: Ends & { branch?: Branch }) =>
      void change(store, [
        { type: 'disconnect', ...old },
        { type: 'connect', ...next },
      ]),
  };
}
