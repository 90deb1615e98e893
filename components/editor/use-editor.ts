'use client';
import { useCallback, useMemo, useRef, useState } from 'react';
import type { Branch, Edit, Step } from '../../server/domains/workflows/edits/index.ts';
import { toast } from '../ui/toaster.tsx';
import { useUrlState } from '../ui/use-url-state.ts';
import type { FocusRequest } from './canvas/use-canvas-view.ts';
import { type Drawing, useLayout } from './canvas/use-layout.ts';
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
import type { EditorStore } from './editor-store.ts';
import type { Draft } from './use-draft.ts';

const none: ReadonlySet<string> = new Set();

/** What is selected on the canvas. One selected step is in the URL, so that it can be shared. */
function useSelection(drawing: Drawing) {
  const url = useUrlState();
  const inUrl = url.get('step');
  const [many, setMany] = useState<ReadonlySet<string>>(none);
  const [edge, setEdge] = useState<string | null>(null);
  const selected = useMemo(() => {
    const ids = many.size > 1 ? many : new Set(inUrl === '' ? [] : [inUrl]);
    return new Set([...ids].filter(id => drawing.places.has(id)));
  }, [many, inUrl, drawing]);
  const select = useCallback(
    (ids: ReadonlySet<string>) => {
      setMany(ids);
      setEdge(null);
      url.set({ step: ids.size === 1 ? [...ids][0] : undefined });
    },
    [url.set],
  );
  const selectEdge = useCallback(
    (id: string | null) => {
      if (id !== null) select(none);
      setEdge(id);
    },
    [select],
  );
  return { selected, select, edge, selectEdge };
}

/** Everything that canvas, toolbar, keys and inspector do to a draft. */
export type Editor = ReturnType<typeof useEditor>;

/** The state of the editor around a draft: what is selected, where it is drawn, and what can be done to it. */
export function useEditor(draft: Draft) {
  const { store } = draft;
  const drawing = useLayout(graphSteps(draft.state.draft));
  const selection = useSelection(drawing);
  const [focus, setFocus] = useState<FocusRequest | null>(null);
  const { select } = selection;
  const show = useCallback(
    (ids: readonly string[], quietly = false) => {
      select(new Set(ids));
      const [first] = ids;
      if (first !== undefined) setFocus({ id: first, quietly });
    },
    [select],
  );
  const latest = useRef({ drawing, ...selection });
  latest.current = { drawing, ...selection };
  const actions = useMemo(() => {
    const places = () => latest.current.drawing.places;
    const selected = () => [...latest.current.selected];
    return {
      ...stepActions(store, { places, selected, show }),
      ...connectionActions(store),
      /** Removes the selected steps or the selected connection. */
      removeSelected: () => {
        const { edge } = latest.current;
        const found = latest.current.drawing.edges.find(({ id }) => id === edge);
        if (found) {
          change(store, [{ type: 'disconnect', from: found.from, to: found.to }]);
          latest.current.selectEdge(null);
        } else if (change(store, planRemoval(selected()))) select(none);
      },
    };
  }, [store, show, select]);
  /** Returns the keyboard to the canvas, as after a dialog is closed. */
  const refocus = useCallback(() => {
    const [first] = latest.current.selected;
    if (first !== undefined) setFocus({ id: first });
  }, []);
  return { drawing, ...selection, focus, show, refocus, ...actions };
}

/** Applies edits as one step of the history; says why where they do not fit, and which Lua still names a renamed step. */
export function change(store: EditorStore, edits: readonly Edit[], key: string | null = null): boolean {
  if (edits.length === 0) return false;
  const result = store.change(edits, key);
  if (!result.ok) {
    toast.error(result.message);
    return false;
  }
  const [first] = result.unrewritten;
  if (first !== undefined) {
    const places = result.unrewritten.map(({ step, field, line }) => `${step}, ${field}, line ${line}`);
    toast.warning('Lua still names the old ID. Change it there:', { description: places.join('; '), duration: 15_000 });
  }
  return true;
}

type Surroundings = { places: () => Places; selected: () => string[]; show: (ids: readonly string[]) => void };

function stepActions(store: EditorStore, { places, selected, show }: Surroundings) {
  const draft = () => store.state.draft;
  const add = (type: string, place: Place) => {
    const plan = planStep(draft(), type, place, places());
    if (change(store, plan.edits)) show(plan.added);
  };
  const paste = (steps: readonly Step[]) => {
    const plan = planPaste(draft(), steps);
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
      const plan = planDuplicate(draft(), selected());
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
    moveSteps: (moved: Places) => void change(store, planMoves(draft(), moved, places())),
    layOut: () => void change(store, planLayout(draft())),
    selectAll: () => show(draft().graph.steps.map(({ id }) => id)),
  };
}

type Ends = { from: string; to: string };

function connectionActions(store: EditorStore) {
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
