'use client';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import type { Step } from '../../server/domains/workflows/edits/index.ts';
import { useUrlState } from '../ui/use-url-state.ts';
import { stepsAt } from './loop-store.ts';

const none: ReadonlySet<string> = new Set();
const idsOf = (step: string): ReadonlySet<string> => (step === '' ? none : new Set([step]));

/**
 * The edited level (`inside`: the ids of the expanded loop on the canvas, empty for the canvas itself), its steps and the selected steps.
 */
export type SelectedLevel = ReturnType<typeof useSelectedLevel>;

/**
 * Returns the selected steps and the expanded loop that contains them. The URL holds a single selected step, so that it can be shared. The
 * URL only follows the selection: Next updates search parameters in a transition, but the selection must be drawn in the next frame.
 */
export function useSelectedLevel(steps: readonly Step[]) {
  const url = useUrlState();
  const inUrl = `${url.get('inside')}:${url.get('step')}`;
  const [state, setState] = useState(() => parseSelection(inUrl));
  const written = useRef(inUrl);
  useEffect(() => {
    // Reacts to another link or Back, not to an earlier selection of this page that arrives late.
    const params = new URLSearchParams(window.location.search);
    const isCurrent = `${params.get('inside') ?? ''}:${params.get('step') ?? ''}` === inUrl;
    if (inUrl === written.current || !isCurrent) return;
    written.current = inUrl;
    setState(parseSelection(inUrl));
  }, [inUrl]);
  const exists = stepsAt(steps, state.inside === '' ? [] : state.inside.split('.')) !== null;
  const shown = exists ? state.inside : '';
  const latest = useRef(shown);
  latest.current = shown;
  const select = useCallback(
    (ids: ReadonlySet<string>, inside: string = latest.current) => {
      const [first = ''] = ids;
      const step = ids.size === 1 ? first : '';
      written.current = `${inside}:${step}`;
      setState({ inside, ids });
      url.set({ step, inside });
    },
    [url.set],
  );
  const inside = useMemo(() => (shown === '' ? [] : shown.split('.')), [shown]);
  return { inside, ids: state.ids, select };
}

function parseSelection(inUrl: string): { inside: string; ids: ReadonlySet<string> } {
  const [inside = '', step = ''] = inUrl.split(':');
  return { inside, ids: idsOf(step) };
}
