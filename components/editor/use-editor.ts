'use client';
import { useCallback, useMemo, useRef, useState } from 'react';
import type { Branch, Json, Step } from '../../server/domains/workflows/edits/index.ts';
import type { Regrouping } from '../../server/domains/workflows/edits/regroup.ts';
import type { Point } from '../graph/layout.ts';
import { drawnNotes, noteNodeId, noteOfNode, type Size } from '../graph/notes.ts';
import { toast } from '../ui/toaster.tsx';
import { type Alignment, align, minimumFor } from './canvas/align.ts';
import type { Drawing } from './canvas/use-layout.ts';
import { change } from './change.ts';
import {
  copyText,
  freeStepId,
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
import type { SelectedLevel } from './use-selected-level.ts';

const none: ReadonlySet<string> = new Set();

/** Returns the selection on the canvas (steps, a connection or a note) and the functions that change it. */
function useSelection(drawing: Drawing, { ids, select: selectSteps }: SelectedLevel) {
  const [edge, setEdge] = useState<string | null>(null);
  const [note, setNote] = useState<string | null>(null);
  const { places } = drawing;
  const selected = useMemo(() => new Set([...ids].filter(id => places.has(id))), [ids, places]);
  const select = useCallback(
    (next: ReadonlySet<string>, inside?: string) => {
      selectSteps(next, inside);
      setEdge(null);
      setNote(null);
    },
    [selectSteps],
  );
  const selectEdge = useCallback(
    (id: string | null, inside?: string) => {
      if (id !== null) select(none, inside);
      setEdge(id);
    },
    [select],
  );
  const selectNote = useCallback(
    (id: string | null) => {
      // Notes exist only on the canvas itself, not in loops.
      if (id !== null) select(none, '');
      setNote(id);
    },
    [select],
  );
  return { selected, select, edge, selectEdge, note, selectNote };
}

/**
 * The step or note to bring into view (null for the canvas itself), and where the focus goes: to its node, to its form, or nowhere. The
 * component that renders the target moves the focus once it is rendered, perhaps some frames later.
 */
export type FocusRequest = { step: string | null; keyboard: 'canvas' | 'form' | 'stays' };

/** The actions of canvas, toolbar, keys and inspector on a draft. */
export type Editor = ReturnType<typeof useEditor>;

type Selection = ReturnType<typeof useSelection>;

/** Returns the functions that bring steps and notes into view and focus them. */
function useShowing({ select, selectNote, ...selection }: Selection, inside: readonly string[]) {
  const [focus, setFocus] = useState<FocusRequest | null>(null);
  const latest = useRef({ ...selection, inside });
  latest.current = { ...selection, inside };
  const actions = useMemo(() => {
    const show = (ids: readonly string[], keyboard: FocusRequest['keyboard'] = 'canvas', level?: string) => {
      select(new Set(ids), level);
      const [first] = ids;
      if (first !== undefined) setFocus({ step: first, keyboard });
    };
    return {
      show,
      showNode: (node: string, keyboard: FocusRequest['keyboard'] = 'canvas') => {
        const note = noteOfNode(node);
        if (note === null) return show([node], keyboard);
        selectNote(note);
        setFocus({ step: node, keyboard });
      },
      /** Adds a step to the selection, or removes the previously focused step from it. The focus moves on to the step. */
      extend: (step: string, from: string) => {
        const next = new Set(latest.current.selected);
        if (next.has(step)) next.delete(from);
        else next.add(step);
        select(next);
        setFocus({ step, keyboard: 'canvas' });
      },
      /** Returns the focus to the canvas, such as after a dialog is closed. */
      refocus: () => {
        const { note, selected } = latest.current;
        const [step = null] = note === null ? selected : [noteNodeId(note)];
        setFocus({ step, keyboard: 'canvas' });
      },
      /** Selects the loop around the edited steps, if it is drawn on the same canvas; otherwise returns false. */
      leave: (): boolean => {
        const around = latest.current.inside;
        const loop = around.at(-1);
        if (loop === undefined) return false;
        show([loop], 'canvas', around.slice(0, -1).join('.'));
        return true;
      },
      /** Moves the focus to the canvas itself, such as when the focused element was removed. */
      focusCanvas: () => setFocus({ step: null, keyboard: 'canvas' }),
      /** Called by the focused component once it has the focus. */
      onFocused: () => setFocus(null),
    };
  }, [select, selectNote]);
  return { focus, ...actions };
}

/**
 * Returns the state and the actions of the editor of a draft: selection, positions and edits. `draft` and `drawing` belong to the edited
 * level: the steps of the canvas, or of an expanded loop on it.
 */
export function useEditor(draft: StepsDraft, drawing: Drawing, level: SelectedLevel) {
  const { store } = draft;
  const { notes: drafted } = draft.state.draft.graph;
  const notes = useMemo(() => drawnNotes({ notes: drafted }), [drafted]);
  const places = useMemo(
    () => new Map([...drawing.places, ...notes.map(note => [noteNodeId(note.id), note.position] as const)]),
    [drawing.places, notes],
  );
  const selection = useSelection(drawing, level);
  const showing = useShowing(selection, level.inside);
  const { select } = selection;
  const { show, showNode, focusCanvas } = showing;
  const latest = useRef({ drawing, ...selection });
  latest.current = { drawing, ...selection };
  const actions = useMemo(() => {
    const places = () => latest.current.drawing.places;
    const selected = () => [...latest.current.selected];
    const note = () => latest.current.note;
    return {
      ...stepActions(store, { places, selected, show }),
      ...groupActions(store, { places, selected, show }),
      ...connectionActions(store),
      ...noteActions(store, { places, selected, note, showNode }),
      /** Removes the selected steps, the selected connection or the selected note. */
      removeSelected: () => {
        const { edge, note } = latest.current;
        focusCanvas();
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
  }, [store, show, showNode, focusCanvas, select]);
  return { drawing, notes, places, ...selection, inside: level.inside, ...showing, ...actions };
}

type Surroundings = {
  places: () => Places;
  selected: () => string[];
  show: (ids: readonly string[], keyboard?: FocusRequest['keyboard']) => void;
};

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
    placeAfter: (step: string) => placeAfter(draft(), step),
    /** Returns the default place of the next step: after the single selected step. */
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
    /** Adds the steps in a text; returns false if it contains none. */
    pasteText: (text: string): boolean => {
      const steps = pastedSteps(text);
      if (steps !== null) paste(steps);
      return steps !== null;
    },
    layOut: () => void change(store, planLayout(draft())),
    selectAll: () => show(draft().graph.steps.map(({ id }) => id)),
  };
}

const loadRegrouping = () => import('../../server/domains/workflows/edits/regroup.ts');

/** Returns the actions on several selected steps. */
function groupActions(store: StepsStore, { places, selected, show }: Surroundings) {
  const draft = () => store.state.draft;
  /** Applies a grouping or ungrouping of steps; shows the reason if it is not possible. */
  const regroup = (result: Regrouping): boolean => {
    if (!result.ok) toast.error(result.message);
    return result.ok && change(store, [result.edit]);
  };
  return {
    groupSelected: async () => {
      const { groupIntoLoop } = await loadRegrouping();
      const loop = freeStepId(draft(), 'for_each', store.reservedIds);
      const result = groupIntoLoop(draft(), selected(), loop, store.depth);
      if (regroup(result)) show([loop]);
    },
    /** Replaces the selected loop with its steps. */
    dissolveSelected: async () => {
      const { dissolveLoop } = await loadRegrouping();
      const [loop = ''] = selected();
      const result = dissolveLoop(draft(), loop, store.depth);
      if (regroup(result) && result.ok) show([result.step]);
    },
    regroup,
    alignSelected: (alignment: Alignment) => {
      const at = selected().flatMap(id => {
        const place = places().get(id);
        return place === undefined ? [] : [[id, place] as const];
      });
      if (at.length < minimumFor(alignment)) return;
      change(store, planMoves(draft(), align(new Map(at), alignment), places()));
    },
  };
}

type NoteSurroundings = Omit<Surroundings, 'show'> & {
  note: () => string | null;
  showNode: (node: string, keyboard: FocusRequest['keyboard']) => void;
};

/** Returns the actions on notes, and the actions on steps and notes alike. */
function noteActions(store: StepsStore, { places, selected, note, showNode }: NoteSurroundings) {
  const draft = () => store.state.draft;
  const plansOf = (moved: Places) => {
    const steps = new Map([...moved].filter(([node]) => noteOfNode(node) === null));
    return [...planNoteMoves(draft(), moved), ...(steps.size === 0 ? [] : planMoves(draft(), steps, places()))];
  };
  return {
    /** Adds an empty note beside the selected step, and focuses its form. */
    addNote: () => {
      const [step = null] = selected();
      const plan = planNote(draft(), step, places());
      if (plan === null) toast.error(`A workflow has at most ${MAX_NOTES} notes.`);
      else if (change(store, [plan.edit])) showNode(noteNodeId(plan.id), 'form');
    },
    resizeNote: (id: string, size: Size) => void change(store, planNoteChange(draft(), id, size)),
    /** Moves nodes of the canvas. */
    moveNodes: (moved: Places) => void change(store, plansOf(moved)),
    /** Moves the selection by a small distance. */
    nudge: (distance: Point) => {
      const id = note();
      const drawn = drawnNotes(draft().graph).find(each => each.id === id);
      const from = drawn
        ? [[noteNodeId(drawn.id), drawn.position] as const]
        : selected().map(step => [step, places().get(step)] as const);
      const moved = from.flatMap(([node, at]) =>
        at ? [[node, { x: at.x + distance.x, y: at.y + distance.y }] as const] : [],
      );
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
