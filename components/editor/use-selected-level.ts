'use client';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import type { Step } from '../../server/domains/workflows/edits/index.ts';
import { useUrlState } from '../ui/use-url-state.ts';
import { stepsAt } from './loop-store.ts';

const none: ReadonlySet<string> = new Set();
const idsOf = (step: string): ReadonlySet<string> => (step === '' ? none : new Set([step]));

/** The steps that are edited: those of the canvas, or (`inside`, by ids) of an open loop on it; and which of them are selected. */
export type SelectedLevel = ReturnType<typeof useSelectedLevel>;

/**
 * The selected steps, and the open loop in which they are. The URL has one selected step, too, so that it can be shared, but it only
 * follows: Next hands its search parameters on in a transition, and what is selected must be drawn with the next frame.
 */
export function useSelectedLevel(steps: readonly Step[]) {
  const url = useUrlState();
  const inUrl = `${url.get('inside')}:${url.get('step')}`;
  const [state, setState] = useState(() => parsed(inUrl));
  const written = useRef(inUrl);
  useEffect(() => {
    // Another link or Back, not an earlier selection of our own that arrives late.
    const params = new URLSearchParams(window.location.search);
    const isCurrent = `${params.get('inside') ?? ''}:${params.get('step') ?? ''}` === inUrl;
    if (inUrl === written.current || !isCurrent) return;
    written.current = inUrl;
    setState(parsed(inUrl));
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

function parsed(inUrl: string): { inside: string; ids: ReadonlySet<string> } {
  const [inside = '', step = ''] = inUrl.split(':');
  return { inside, ids: idsOf(step) };
}
