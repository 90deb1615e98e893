'use client';
import { LayoutDashboard, PanelRight, Plus, Redo2, Search, Sparkles, StickyNote, Undo2, Waypoints } from 'lucide-react';
import dynamic from 'next/dynamic';
import { type RefObject, useCallback, useEffect, useMemo, useRef, useState } from 'react';
import type { Step } from '../../../server/domains/workflows/edits/index.ts';
import { type Levels, nodeIn, placeOf } from '../../graph/levels.ts';
import { drawnNotes, noteOfNode } from '../../graph/notes.ts';
import { useCalledNames } from '../../graph/use-called-names.ts';
import { readStored, store } from '../../ui/browser-storage.ts';
import { Button, IconButton } from '../../ui/button.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { EmptyState } from '../../ui/states.tsx';
import { useUrlState } from '../../ui/use-url-state.ts';
import { graphSteps, type Place } from '../editor-actions.ts';
import { type FoundStep, findSteps, markedNodes } from '../found-steps.ts';
import { nodesOf } from '../loop-problems.ts';
import type { StepsDraft } from '../loop-store.ts';
import { RunChoice } from '../over/run-choice.tsx';
import { StepPalette } from '../palette/step-palette.tsx';
import { useWebhooksOf } from '../start/use-webhooks-of.ts';
import type { StepTypeForm } from '../step-fields.ts';
import { StepSearch } from '../step-search.tsx';
import { pinsOf } from '../trial/pins.ts';
import type { Draft, Problem } from '../use-draft.ts';
import type { Editor } from '../use-editor.ts';
import { sayProblem } from '../use-history-keys.ts';
import { CanvasMenu, type CanvasMenuAt } from './canvas-menu.tsx';
import { type CanvasMarks, EditorCanvas } from './editor-canvas.tsx';
import { useCanvasHands } from './use-canvas-hands.ts';
import { useCanvasKeys } from './use-canvas-keys.ts';
import { useLateTexts } from './use-open-loops.ts';

const SelectionBar = dynamic(() => import('./selection-bar.tsx').then(module => module.SelectionBar), { ssr: false });
const StartDialog = dynamic(() => import('../start/start-dialog.tsx').then(module => module.StartDialog), {
  ssr: false,
});
const RegroupDialog = dynamic(() => import('../regroup-dialogs.tsx').then(module => module.RegroupDialog), {
  ssr: false,
});

const nothing: ReadonlySet<string> = new Set();
const noMarks: CanvasMarks = new Map();

export type DraftCanvasProps = {
  workflowId: string;
  draft: Draft;
  /** The ids of the loop whose steps the canvas shows and of the loops around it; empty for the steps of the draft. */
  path: readonly string[];
  /** The steps that the canvas shows. */
  root: StepsDraft;
  levels: Levels;
  /** False until the first layout of the graph is complete. */
  isLaidOut: boolean;
  /** The steps that are edited: the steps of the canvas, or of an expanded loop on it. */
  view: StepsDraft;
  editor: Editor;
  /** The problems of the steps of the canvas and of all loops on it. */
  canvasProblems: readonly Problem[];
  stepTypes: readonly StepTypeForm[];
  editable: boolean;
  /** The place where the palette adds a step; null if the palette is closed. */
  place: Place | null;
  onPlace: (place: Place | null) => void;
  onAdd: (place: Place, type?: string) => void;
  /** Absent in loops, which have no notes. */
  onAddNote: (() => void) | undefined;
  onInspect: (node: string) => void;
  onToggleLoop: (loop: string, open: boolean) => void;
  /** The statuses of the steps in the run that is shown over the draft. */
  marks: CanvasMarks | null;
  /** Whether the side panel is shown. */
  panel: { isOpen: boolean; toggle: () => void };
};

/** The graph of a draft on the canvas, with the toolbar and the step palette over it. */
export function DraftCanvas(props: DraftCanvasProps) {
  const { editable, editor, onAdd, onAddNote, onInspect } = props;
  const frame = useRef<HTMLElement>(null);
  const [search, setSearch] = useState<string | null>(null);
  const [menu, setMenu] = useState<CanvasMenuAt | null>(null);
  const [dialog, setDialog] = useState<CanvasDialog | null>(null);
  const map = useMapShown();
  const onStart = useCallback(() => setDialog('start'), []);
  const onExtract = () => {
    if (editor.selected.size > 0) setDialog('regroup');
  };
  const { graph } = props.root.state.draft;
  const { found, marked, showFound } = useFound(props, search);
  useCanvasKeys(frame, {
    editor,
    editable,
    onAdd,
    onAddNote,
    onSearch: () => setSearch(search ?? ''),
    onInspect,
    onExtract,
    onStart,
    onToggleMap: map.toggle,
    onToggleLoop: props.onToggleLoop,
    isLoopOpen: node => props.levels.some(level => level.node === node),
  });
  useCanvasFocus(frame, props);
  const isEmpty = graph.steps.length === 0 && drawnNotes(graph).length === 0;
  const closeSearch = () => {
    setSearch(null);
    editor.refocus();
  };
  return (
    <section
      ref={frame}
      aria-label="Graph of the draft"
      aria-describedby="canvas-keys"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: an empty canvas needs a focusable element for its keys
      tabIndex={0}
      className="relative h-[60dvh] min-h-80 flex-1 overflow-hidden bg-sunken focus-visible:-outline-offset-2 lg:h-auto lg:min-h-0"
    >
      {isEmpty ? (
        <EmptyCanvas editable={editable} onAdd={() => onAdd({ kind: 'free' })} />
      ) : !props.isLaidOut ? (
        <Skeleton className="h-full w-full" />
      ) : (
        <Graph {...props} found={marked} onMenu={setMenu} onStart={onStart} showsMap={map.isShown} />
      )}
      <div className="pointer-events-none absolute inset-x-2 top-2 z-5 flex items-start justify-between gap-2 *:pointer-events-auto">
        {isEmpty ? (
          <span />
        ) : (
          <div data-over-canvas className="flex min-w-0 flex-wrap items-start gap-2">
            {editable ? <CanvasTools {...props} onSearch={() => setSearch(search ?? '')} /> : null}
            {search === null ? null : (
              <StepSearch found={found} text={search} onText={setSearch} onShow={showFound} onClose={closeSearch} />
            )}
          </div>
        )}
        <PanelToggle {...props.panel} />
      </div>
      {editable && editor.selected.size > 1 ? <SelectionBar editor={editor} onExtract={onExtract} /> : null}
      <Palette {...props} />
      <CanvasDialogs {...props} open={dialog} onClose={() => setDialog(null)} />
      <CanvasMenu
        {...{ editor, editable, onAdd, onAddNote, onInspect, onExtract, onStart, onToggleMap: map.toggle }}
        at={menu}
        onClose={() => {
          setMenu(null);
          // By the next frame, a dialog that a menu entry opened has the focus.
          requestAnimationFrame(() => document.activeElement === document.body && editor.refocus());
        }}
      />
    </section>
  );
}

/** Returns the steps that the search finds on the canvas and in its loops, the nodes to mark, and a function that shows a found step. */
function useFound({ root, levels, editor }: DraftCanvasProps, search: string | null) {
  const steps = graphSteps(root.state.draft);
  const found = useMemo(() => (search === null ? [] : findSteps(steps, search)), [steps, search]);
  const marked = useMemo(() => {
    const drawn = new Set(levels.map(({ node }) => node));
    return found.length === 0 ? nothing : markedNodes(found, level => drawn.has(level));
  }, [found, levels]);
  // The loops around the edited steps are expanded.
  const showFound = ({ node }: FoundStep) => {
    const { level, step } = placeOf(node);
    editor.show([step], 'stays', level);
  };
  return { found, marked, showFound };
}

const MAP_KEY = 'baton:map-hidden';

/** Returns whether large graphs have a minimap, as stored in this browser. */
function useMapShown() {
  const [isShown, setShown] = useState(() => readStored(MAP_KEY) !== true);
  const toggle = () => {
    store(MAP_KEY, isShown);
    setShown(!isShown);
  };
  return { isShown, toggle };
}

type CanvasDialog = 'start' | 'regroup';
type DialogsProps = DraftCanvasProps & { open: CanvasDialog | null; onClose: () => void };

/** The dialog that the canvas has opened. */
function CanvasDialogs({ open, onClose, workflowId, draft, view, editor, editable }: DialogsProps) {
  const { refocus } = editor;
  const last = useRef(open);
  useEffect(() => {
    const isClosed = last.current === 'regroup' && open === null;
    last.current = open;
    // Waits for the dialog to close: it would return the focus to a step that may be gone.
    if (isClosed) setTimeout(refocus, 0);
  }, [open, refocus]);
  switch (open) {
    case null:
      return null;
    case 'start':
      return <StartDialog {...{ workflowId, draft, editable, onClose }} />;
    case 'regroup':
      return <RegroupDialog workflowId={workflowId} store={view.store} editor={editor} onClose={onClose} />;
  }
}

type GraphProps = DraftCanvasProps & {
  found: ReadonlySet<string>;
  onMenu: (menu: CanvasMenuAt) => void;
  onStart: () => void;
  showsMap: boolean;
};

function Graph(props: GraphProps) {
  const { editor, root, canvasProblems, marks, editable, found, onMenu } = props;
  const { run_setup } = root.state.draft;
  const { steps, notes } = root.state.draft.graph;
  const pinned = useMemo(() => new Set(Object.keys(pinsOf(run_setup))), [run_setup]);
  const errors = useMemo(() => countErrors(canvasProblems, steps), [canvasProblems, steps]);
  const drawn = useMemo(() => drawnNotes({ notes }), [notes]);
  const levels = useLateTexts(props.levels);
  const hands = useCanvasHands(props);
  const nodes = useNodeNames(editor);
  return (
    <EditorCanvas
      levels={levels}
      notes={drawn}
      problems={errors}
      marks={marks ?? noMarks}
      pinned={pinned}
      names={useCalledNames(steps)}
      {...nodes}
      found={found}
      selectedNote={editor.note}
      editable={editable}
      onFocused={editor.onFocused}
      onSelectNote={editor.selectNote}
      onResizeNote={editor.resizeNote}
      {...hands}
      onMenu={onMenu}
      start={useStartNode(props)}
      showsMap={props.showsMap}
    />
  );
}

/** Returns the label of the start node; undefined if the canvas shows the steps of a loop. */
function useStartNode({ workflowId, root, path, editable, onStart }: GraphProps) {
  const isShown = path.length === 0;
  const webhooks = useWebhooksOf(workflowId, editable && isShown).length;
  const { tool } = root.state.draft.graph;
  const detail = [
    'On request',
    ...(webhooks === 0 ? [] : [webhooks === 1 ? '1 webhook' : `${webhooks} webhooks`]),
    ...(tool === undefined ? [] : ['Tool']),
  ].join(' · ');
  return useMemo(() => (isShown ? { detail, open: onStart } : undefined), [isShown, detail, onStart]);
}

const nodesIn = (level: string, ids: ReadonlySet<string>): ReadonlySet<string> =>
  level === '' ? ids : new Set([...ids].map(id => nodeIn(level, id)));

/** Returns the node ids of the selected steps and of the step to focus. */
function useNodeNames({ inside, selected, edge, focus }: Editor) {
  const level = inside.join('.');
  const selectedNodes = useMemo(() => nodesIn(level, selected), [selected, level]);
  const focusNode = useMemo(() => {
    if (focus?.step == null || noteOfNode(focus.step) !== null) return focus;
    return { ...focus, step: nodeIn(level, focus.step) };
  }, [focus, level]);
  return {
    selected: selectedNodes,
    focus: focusNode,
    selectedEdge: edge === null ? null : nodeIn(level, edge),
  };
}

/** Focuses the canvas on request, and on the first render of an empty workflow. */
function useCanvasFocus(frame: RefObject<HTMLElement | null>, { editable, view, editor }: DraftCanvasProps): void {
  const startsHere = useRef(editable && graphSteps(view.state.draft).length === 0);
  useEffect(() => {
    // Runs once: a user who edits the input first keeps the focus there.
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

/** The toolbar over the canvas. A separate component, so that it renders without the canvas. */
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

/** Returns the number of errors by node. The errors of a loop include the errors of its steps. */
function countErrors(problems: readonly Problem[], steps: readonly Step[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const problem of problems) {
    if (problem.severity !== 'error') continue;
    for (const node of nodesOf(problem, steps)) counts.set(node, (counts.get(node) ?? 0) + 1);
  }
  return counts;
}
