'use client';
import { ChevronRight } from 'lucide-react';
import { Fragment, useCallback, useMemo, useRef } from 'react';
import { useUrlState } from '../ui/use-url-state.ts';
import { LoopStore, type StepsDraft, stepsAt } from './loop-store.ts';
import type { Draft } from './use-draft.ts';

/** Returns the shown loop (`path`, by ids; empty for the draft itself), its steps, and a function that shows another loop. */
export function useLoops(draft: Draft) {
  const url = useUrlState();
  const named = url.get('loop');
  const { steps } = draft.state.draft.graph;
  const exists = named !== '' && stepsAt(steps, named.split('.')) !== null;
  const shown = exists ? named : '';
  const path = useMemo(() => (shown === '' ? [] : shown.split('.')), [shown]);
  const view = useStepsDraft(draft, path);
  const moved = useRef(false);
  const adding = useRef<string | null>(null);
  const onLoop = useCallback(
    (to: readonly string[], step?: string, adds = false) => {
      moved.current = true;
      adding.current = adds ? to.join('.') : null;
      url.set({ loop: to.join('.'), step, inside: undefined, panel: undefined }, { push: true });
    },
    [url.set],
  );
  return { path, view, onLoop, moved: moved.current, adds: shown !== '' && adding.current === shown };
}

/** Returns the steps of the loop at `path` as a draft; the draft itself for an empty path. */
export function useStepsDraft({ state, store }: Pick<Draft, 'state' | 'store'>, path: readonly string[]): StepsDraft {
  const inner = useMemo(() => (path.length === 0 ? null : new LoopStore(store, path)), [store, path]);
  return useMemo((): StepsDraft => {
    return inner === null ? { state, store } : { state: inner.state, store: inner };
  }, [inner, state, store]);
}

type PathProps = { path: readonly string[]; onLoop: (path: readonly string[], step?: string) => void };

/** The breadcrumb from the draft to the shown loop; empty for the draft itself. */
export function LoopPath({ path, onLoop }: PathProps) {
  if (path.length === 0) return null;
  const names = ['Draft', ...path];
  return (
    <nav aria-label="Loops" className="flex min-h-9 flex-wrap items-center gap-1 border-b bg-surface px-3 text-sm">
      {names.map((name, depth) =>
        depth === path.length ? (
          <span key={path.slice(0, depth).join('.')} aria-current="page" className="font-medium">
            {name}
          </span>
        ) : (
          <Fragment key={path.slice(0, depth).join('.')}>
            <button
              type="button"
              className="text-muted underline underline-offset-2 hover:text-text"
              onClick={() => onLoop(path.slice(0, depth), path[depth])}
            >
              {name}
            </button>
            <ChevronRight aria-hidden className="size-3.5 text-faint" />
          </Fragment>
        ),
      )}
    </nav>
  );
}
