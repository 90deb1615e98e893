'use client';
import { LayoutDashboard, PanelRight, Plus, Redo2, Search, Sparkles, StickyNote, Undo2, Waypoints } from 'lucide-react';
import { type RefObject, useEffect, useMemo, useRef, useState } from 'react';
import { Button, IconButton } from '../../ui/button.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { EmptyState } from '../../ui/states.tsx';
import { useUrlState } from '../../ui/use-url-state.ts';
import { graphSteps, type Place } from '../editor-actions.ts';
import type { StepsDraft } from '../loop-store.ts';
import { RunChoice } from '../over/run-choice.tsx';
import { StepPalette } from '../palette/step-palette.tsx';
import type { StepTypeForm } from '../step-fields.ts';
import { findSteps, StepSearch } from '../step-search.tsx';
import { pinsOf } from '../trial/pins.ts';
import type { Problem } from '../use-draft.ts';
import type { Editor } from '../use-editor.ts';
import { sayProblem } from '../use-history-keys.ts';
import { CanvasMenu, type CanvasMenuAt } from './canvas-menu.tsx';
import { type CanvasMarks, EditorCanvas } from './editor-canvas.tsx';
import { useCanvasKeys } from './use-canvas-keys.ts';
import { useLateTexts } from './use-layout.ts';

const nothing: ReadonlySet<string> = new Set();
const noMarks: CanvasMarks = new Map();

export type DraftCanvasProps = {
  workflowId: string;
  /** The steps that are edited: those of the draft, or of a loop in it. */
  view: StepsDraft;
  editor: Editor;
  /** Those of the steps that are edited. */
  problems: readonly Problem[];
  stepTypes: readonly StepTypeForm[];
  editable: boolean;
  /** Where the palette adds a step; null: it is closed. */
  place: Place | null;
  onPlace: (place: Place | null) => void;
  onAdd: (place: Place, type?: string) => void;
  /** Absent where there are no notes: in loops. */
  onAddNote: (() => void) | undefined;
  onInspect: (node: string) => void;
  /** The statuses of the steps in the run that is shown over the draft. */
  marks: CanvasMarks | null;
  /** Whether the forms beside the canvas are shown. */
  panel: { isOpen: boolean; toggle: () => void };
};

/** The graph of a draft on the canvas, with its tools and the palette of steps over it. */
export function DraftCanvas(props: DraftCanvasProps) {
  const { editable, editor, onAdd, onAddNote, onInspect } = props;
  const frame = useRef<HTMLElement>(null);
  const [search, setSearch] = useState<string | null>(null);
  const [menu, setMenu] = useState<CanvasMenuAt | null>(null);
  const { steps } = editor.drawing;
  const found = useMemo(() => (search === null ? [] : findSteps(steps, search)), [steps, search]);
  const foundSet = useMemo(() => (found.length === 0 ? nothing : new Set(found)), [found]);
  useCanvasKeys(frame, { editor, editable, onAdd, onAddNote, onSearch: () => setSearch(search ?? ''), onInspect });
  useCanvasFocus(frame, props);
  const isEmpty = steps.length === 0 && editor.notes.length === 0;
  const closeSearch = () => {
    setSearch(null);
    editor.refocus();
  };
  return (
    <section
      ref={frame}
      aria-label="Graph of the draft"
      aria-describedby="canvas-keys"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: the keys of an empty canvas need a place for the focus
      tabIndex={0}
      className="relative h-[60dvh] min-h-80 flex-1 overflow-hidden bg-sunken focus-visible:-outline-offset-2 lg:h-auto lg:min-h-0"
    >
      {isEmpty ? (
        <EmptyCanvas editable={editable} onAdd={() => onAdd({ kind: 'free' })} />
      ) : (
        <Graph {...props} found={foundSet} onMenu={setMenu} />
      )}
      <div className="pointer-events-none absolute inset-x-2 top-2 z-5 flex items-start justify-between gap-2 *:pointer-events-auto">
        {isEmpty ? (
          <span />
        ) : (
          <div data-over-canvas className="flex min-w-0 flex-wrap gap-2">
            {editable ? <CanvasTools {...props} onSearch={() => setSearch(search ?? '')} /> : null}
            {search === null ? null : (
              <StepSearch
                found={found}
                text={search}
                onText={setSearch}
                onShow={id => editor.show([id], 'stays')}
                onClose={closeSearch}
              />
            )}
          </div>
        )}
        <PanelToggle {...props.panel} />
      </div>
      <Palette {...props} />
      <CanvasMenu
        {...{ editor, editable, onAdd, onAddNote, onInspect }}
        at={menu}
        onClose={() => {
          setMenu(null);
          // What an entry opened has the keyboard by then.
          requestAnimationFrame(() => document.activeElement === document.body && editor.refocus());
        }}
      />
    </section>
  );
}

type GraphProps = DraftCanvasProps & { found: ReadonlySet<string>; onMenu: (menu: CanvasMenuAt) => void };

function Graph({ view, editor, problems, marks, editable, found, onMenu, onAdd, onInspect }: GraphProps) {
  const { run_setup } = view.state.draft;
  const pinned = useMemo(() => new Set(Object.keys(pinsOf(run_setup))), [run_setup]);
  const errors = useMemo(() => countErrors(problems), [problems]);
  const drawing = useLateTexts(editor.drawing);
  if (!drawing.isLaidOut) return <Skeleton className="h-full w-full" />;
  return (
    <EditorCanvas
      drawing={drawing}
      notes={editor.notes}
      places={editor.places}
      problems={errors}
      marks={marks ?? noMarks}
      pinned={pinned}
      selected={editor.selected}
      selectedEdge={editor.edge}
      selectedNote={editor.note}
      found={found}
      editable={editable}
      focus={editor.focus}
      onFocused={editor.onFocused}
      onSelect={editor.select}
      onSelectEdge={editor.selectEdge}
      onSelectNote={editor.selectNote}
      onResizeNote={editor.resizeNote}
      onOpenNode={onInspect}
      onAdd={onAdd}
      onMove={editor.moveNodes}
      onConnect={editor.connect}
      onReconnect={editor.reconnect}
      onDisconnect={editor.disconnect}
      onMenu={onMenu}
    />
  );
}

/** Gives the canvas the keyboard when it is asked for, and when a person has just come to an empty workflow. */
function useCanvasFocus(frame: RefObject<HTMLElement | null>, { editable, view, editor }: DraftCanvasProps): void {
  const startsHere = useRef(editable && graphSteps(view.state.draft).length === 0);
  useEffect(() => {
    // A person who builds its input first is left alone.
    if (startsHere.current) frame.current?.focus({ preventScroll: true });
  }, [frame]);
  const { focus, onFocused } = editor;
  useEffect(() => {
    if (focus === null || focus.step !== null) return;
    frame.current?.focus({ preventScroll: true });
    onFocused();
  }, [frame, focus, onFocused]);
}

function Palette({ view, editor, stepTypes, place, onPlace }: DraftCanvasProps) {
  if (place === null) return null;
  return (
    <StepPalette
      types={stepTypes}
      place={place}
      steps={graphSteps(view.state.draft)}
      onClose={() => {
        onPlace(null);
        editor.refocus();
      }}
      onChoose={({ type, fields }) => {
        onPlace(null);
        editor.add(type, place, fields);
      }}
    />
  );
}

function EmptyCanvas({ editable, onAdd }: { editable: boolean; onAdd: () => void }) {
  return (
    <div className="flex h-full items-center justify-center">
      <EmptyState
        icon={Waypoints}
        title="No steps yet"
        action={
          editable ? (
            <Button variant="primary" icon={<Plus aria-hidden className="size-3.5" />} onClick={onAdd}>
              Add the first step
            </Button>
          ) : null
        }
      >
        A workflow is a graph of steps, such as scripts, conditions, approvals, and calls to tools and models.
      </EmptyState>
    </div>
  );
}

function PanelToggle({ isOpen, toggle }: DraftCanvasProps['panel']) {
  return (
    <div className="hidden rounded-lg border bg-surface p-1 shadow-sm lg:block">
      <IconButton
        label={isOpen ? 'Hide the panel' : 'Show the panel'}
        shortcut="]"
        aria-expanded={isOpen}
        onClick={toggle}
      >
        <PanelRight aria-hidden className="size-4" />
      </IconButton>
    </div>
  );
}

/** The tools over the canvas. They are a component of their own, to render without the canvas. */
function CanvasTools({
  workflowId,
  view,
  editor,
  onPlace,
  onAddNote,
  onSearch,
}: DraftCanvasProps & { onSearch: () => void }) {
  const url = useUrlState();
  const { canUndo, canRedo } = view.state;
  return (
    <>
      <Button
        variant="primary"
        className="h-10 shadow-sm"
        icon={<Plus aria-hidden className="size-4" />}
        onClick={() => onPlace(editor.nextPlace())}
      >
        Add step
      </Button>
      <div role="toolbar" aria-label="Edit" className="flex gap-0.5 rounded-lg border bg-surface p-1 shadow-sm">
        <IconButton label="Undo" shortcut="⌘ Z" disabled={!canUndo} onClick={() => sayProblem(view.store.undo())}>
          <Undo2 aria-hidden className="size-4" />
        </IconButton>
        <IconButton label="Redo" shortcut="⇧ ⌘ Z" disabled={!canRedo} onClick={() => sayProblem(view.store.redo())}>
          <Redo2 aria-hidden className="size-4" />
        </IconButton>
        {onAddNote === undefined ? null : (
          <IconButton label="Add a note" shortcut="N" onClick={onAddNote}>
            <StickyNote aria-hidden className="size-4" />
          </IconButton>
        )}
        <IconButton label="Arrange automatically" onClick={editor.layOut}>
          <LayoutDashboard aria-hidden className="size-4" />
        </IconButton>
        <IconButton label="Autopilot" shortcut="⌘ J" onClick={() => url.set({ panel: 'autopilot' })}>
          <Sparkles aria-hidden className="size-4" />
        </IconButton>
        <IconButton label="Search steps" shortcut="⌘ F" onClick={onSearch}>
          <Search aria-hidden className="size-4" />
        </IconButton>
        <RunChoice workflowId={workflowId} />
      </div>
    </>
  );
}

function countErrors(problems: readonly Problem[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const problem of problems)
    if (problem.step_id !== null && problem.severity === 'error')
      counts.set(problem.step_id, (counts.get(problem.step_id) ?? 0) + 1);
  return counts;
}
