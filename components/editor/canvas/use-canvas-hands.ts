'use client';
import { useCallback, useMemo, useRef } from 'react';
import type { Branch } from '../../../server/domains/workflows/edits/index.ts';
import { levelAt, pathOf, placeAt, placeOf, selectionOf } from '../../graph/levels.ts';
import { noteOfNode } from '../../graph/notes.ts';
import { toast } from '../../ui/toaster.tsx';
import { change } from '../change.ts';
import { type Place, type Places, planMoves, planStep } from '../editor-actions.ts';
import { LoopStore, type StepsStore } from '../loop-store.ts';
import { planNoteMoves } from '../notes/note-actions.ts';
import type { DraftCanvasProps } from './draft-canvas.tsx';

type Ends = { from: string; to: string };

const OTHER_LEVEL = 'Steps in a loop are connected with steps of the same loop. Connect the loop itself instead.';

/**
 * Returns the pointer actions of the canvas, whose nodes may be steps of several loops. Each action applies to the steps of the loop in
 * which it happens. The loop of the selected steps becomes the edited level.
 */
export function useCanvasHands(props: DraftCanvasProps) {
  const latest = useRef(props);
  latest.current = props;
  const storeOf = useCallback((level: string): StepsStore => {
    const { path, draft } = latest.current;
    const inner = [...path, ...pathOf(level)];
    return inner.length === 0 ? draft.store : new LoopStore(draft.store, inner);
  }, []);
  return useMemo(() => {
    const select = (nodes: ReadonlySet<string>) => {
      const { level, steps } = selectionOf(nodes);
      latest.current.editor.select(steps, steps.size === 0 ? undefined : level);
    };
    /** Applies an action to two steps of the same level; shows an error for steps in different loops. */
    const withinLevel = (from: string, to: string, act: (store: StepsStore, ends: Ends) => void) => {
      const [start, end] = [placeOf(from), placeOf(to)];
      if (start.level !== end.level) toast.error(OTHER_LEVEL);
      else act(storeOf(start.level), { from: start.step, to: end.step });
    };
    return {
      onSelect: select,
      onSelectEdge: (edge: string | null) => {
        const { level, step } = placeOf(edge ?? '');
        latest.current.editor.selectEdge(edge === null ? null : step, edge === null ? undefined : level);
      },
      onOpenNode: (node: string) => {
        if (noteOfNode(node) === null) select(new Set([node]));
        latest.current.onInspect(placeOf(node).step);
      },
      onAdd: (place: Place, type?: string, given = '') => {
        const { editor, levels, onAdd } = latest.current;
        const { level, place: at } = placeIn(place, given);
        if (type === undefined) {
          if (level !== editor.inside.join('.')) editor.select(new Set(), level);
          return onAdd(at);
        }
        const store = storeOf(level);
        const places = levelAt(levels, level)?.places ?? new Map();
        latest.current.onPlace(null);
        const plan = planStep(store.state.draft, { type }, at, stepsOnly(places), store.reservedIds);
        if (change(store, plan.edits)) editor.show(plan.added, 'canvas', level);
      },
      onMove: (moved: Places) => {
        const { levels } = latest.current;
        const [node = ''] = moved.keys();
        const level = levelAt(levels, placeOf(node).level);
        if (level === undefined) return;
        const onLevel = [...moved].filter(([each]) => placeOf(each).level === level.node);
        const places = new Map(
          onLevel.map(([each, at]) => [placeOf(each).step, placeAt(level, placeOf(each).step, at)]),
        );
        const steps = stepsOnly(places);
        const store = storeOf(level.node);
        const { draft } = store.state;
        const ofSteps = steps.size === 0 ? [] : planMoves(draft, steps, level.places);
        change(store, [...planNoteMoves(draft, places), ...ofSteps]);
      },
      onConnect: (from: string, to: string, branch: Branch | undefined) =>
        withinLevel(from, to, (store, ends) => change(store, [{ type: 'connect', ...ends, branch }])),
      onDisconnect: (from: string, to: string) =>
        withinLevel(from, to, (store, ends) => change(store, [{ type: 'disconnect', ...ends }])),
      onReconnect: (old: Ends, { branch, ...next }: Ends & { branch?: Branch }) =>
        withinLevel(next.from, next.to, (store, ends) => {
          const before = { from: placeOf(old.from).step, to: placeOf(old.to).step };
          change(store, [
            { type: 'disconnect', ...before },
            { type: 'connect', ...ends, ...(branch === undefined ? {} : { branch }) },
          ]);
        }),
      onToggleLoop: (loop: string, open: boolean) => latest.current.onToggleLoop(loop, open),
    };
  }, [storeOf]);
}

/** Converts a place between nodes to a place between the steps of their level. */
function placeIn(place: Place, given: string): { level: string; place: Place } {
  switch (place.kind) {
    case 'free':
      return { level: given, place };
    case 'after': {
      const { level, step } = placeOf(place.step);
      return { level, place: { ...place, step } };
    }
    case 'between': {
      const { level, step: from } = placeOf(place.from);
      return { level, place: { ...place, from, to: placeOf(place.to).step } };
    }
  }
}

const stepsOnly = (places: Places): Places => new Map([...places].filter(([node]) => noteOfNode(node) === null));
