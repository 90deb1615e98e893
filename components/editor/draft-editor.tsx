'use client';
import { Panel } from '@xyflow/react';
import { LayoutDashboard, Plus, Redo2, Search, Sparkles, StickyNote, Undo2, Waypoints } from 'lucide-react';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { ProposalCanvas } from '../autopilot/proposal-canvas.tsx';
import { useGhosts } from '../autopilot/use-ghosts.ts';
import { Button, IconButton } from '../ui/button.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { EmptyState, ErrorState } from '../ui/states.tsx';
import { useUrlState } from '../ui/use-url-state.ts';
import { type CanvasMarks, EditorCanvas } from './canvas/editor-canvas.tsx';
import { useCanvasKeys } from './canvas/use-canvas-keys.ts';
import { useLateTexts } from './canvas/use-layout.ts';
import { ConflictPanel } from './conflict-panel.tsx';
import { graphSteps, type Place } from './editor-actions.ts';
import { type UnfinishedFields, unfinishedFields } from './inspector/unfinished-fields.ts';
import type { JsonEditorHandle } from './json-editor.tsx';
import { innerProblem, problemsInside } from './loop-problems.ts';
import type { StepsDraft } from './loop-store.ts';
import { LoopPath, useLoops } from './loops.tsx';
import { ProblemList } from './problem-list.tsx';
import { inConsoleWords } from './problem-words.ts';
import { panels, SidePanel } from './side-panel.tsx';
import type { StepTypeForm } from './step-fields.ts';
import { StepPalette, StepStrip } from './step-palette.tsx';
import { findSteps, StepSearch } from './step-search.tsx';
import type { Draft, Problem, Validation } from './use-draft.ts';
import { type Editor, useEditor } from './use-editor.ts';
import { sayProblem, useHistoryKeys } from './use-history-keys.ts';

export type DraftEditorProps = {
  workflowId: string;
  draft: Draft;
  validation: Validation;
  stepTypes: readonly StepTypeForm[];
  editable: boolean;
};
const nothing: ReadonlySet<string> = new Set();
const noMarks: CanvasMarks = new Map();

/** The draft as a graph to build, with the selected step as a form beside it, or the whole as JSON. */
export function DraftEditor(props: DraftEditorProps) {
  const { workflowId, draft, editable } = props;
  const [unfinished] = useState(() => unfinishedFields(workflowId));
  useHistoryKeys(draft.store, editable);
  const { path, view, onLoop, moved } = useLoops(draft);
  return (
    <div className="flex flex-col gap-3">
      <ConflictPanel draft={draft} />
      <LoopPath path={path} onLoop={onLoop} />
      <StepsEditor
        key={path.join('.')}
        {...props}
        view={view}
        path={path}
        unfinished={unfinished}
        takesFocus={moved}
        onLoop={onLoop}
      />
    </div>
  );
}

type StepsEditorProps = DraftEditorProps & {
  /** The steps that are edited: those of the draft, or of a loop in it. */
  view: StepsDraft;
  /** The ids of that loop and of those around it, the outermost first. */
  path: readonly string[];
  unfinished: UnfinishedFields;
  /** Whether the canvas takes the keyboard, because a person came here from a loop or from the steps around it. */
  takesFocus: boolean;
  onLoop: (path: readonly string[], step?: string) => void;
};

function StepsEditor({ view, path, takesFocus, onLoop, ...props }: StepsEditorProps) {
  const { draft, validation, editable, stepTypes } = props;
  const url = useUrlState();
  const editor = useEditor(view);
  const [place, setPlace] = useState<Place | null>(null);
  const json = useRef<JsonEditorHandle>(null);
  const panel = panels.find(name => name === url.get('panel') && (editable || name !== 'test')) ?? 'step';
  const { steps } = draft.state.draft.graph;
  const proposal = panel === 'autopilot' && path.length === 0 ? url.get('proposal') || url.get('drawn') : '';
  const ghosts = useGhosts(graphSteps(draft.state.draft), proposal === '' ? null : proposal);
  // Here, because the page of a workflow is loaded without the words.
  const allProblems = useMemo(() => validation.problems.map(problem => inConsoleWords(problem)), [validation.problems]);
  const problems = useMemo(() => problemsInside(allProblems, steps, path), [allProblems, steps, path]);
  const onAdd = useCallback(
    (next: Place, type?: string) => (type === undefined ? setPlace(next) : editor.add(type, next)),
    [editor.add],
  );
  const inspect = useCallback(
    (node: string) => {
      url.set({ panel: undefined });
      editor.showNode(node, 'form');
    },
    [url.set, editor.showNode],
  );
  const addNote = useCallback(() => {
    url.set({ panel: undefined });
    editor.addNote();
  }, [url.set, editor.addNote]);
  const arrived = useRef(takesFocus);
  const { refocus } = editor;
  useEffect(() => {
    if (arrived.current) refocus();
    arrived.current = false;
  }, [refocus]);
  const jump = (problem: Problem) => {
    const here = innerProblem(problem, steps, path);
    if (panel === 'json') {
      if (here?.step_id != null) editor.show([here.step_id], 'stays');
      json.current?.jumpTo(problem);
    } else if (here?.step_id != null) inspect(here.step_id);
    else if (problem.step_id !== null) onLoop([], problem.step_id);
  };
  const shared = { ...props, view, path, problems, editor, onAdd };
  return (
    <>
      <div className="grid gap-4 lg:grid-cols-[minmax(0,1fr)_360px]">
        {ghosts === null ? (
          <Canvas {...shared} onInspect={inspect} onAddNote={path.length === 0 ? addNote : undefined} />
        ) : (
          <ProposalCanvas
            ghosts={ghosts}
            notes={editor.notes}
            onClose={() => url.set({ proposal: undefined, drawn: undefined })}
          />
        )}
        <SidePanel
          {...shared}
          allProblems={allProblems}
          panel={panel}
          json={json}
          onOpenLoop={loop => onLoop([...path, loop])}
        />
      </div>
      {!validation.enabled ? null : validation.error ? (
        <ErrorState title="The draft could not be checked" error={validation.error} />
      ) : (
        <ProblemList steps={steps} problems={allProblems} checking={validation.checking} onJump={jump} />
      )}
      <StepPalette
        types={stepTypes}
        place={place}
        onClose={() => {
          setPlace(null);
          editor.refocus();
        }}
        onChoose={(type, chosen) => {
          setPlace(null);
          editor.add(type, chosen);
        }}
      />
      <p className="sr-only" id="canvas-keys">
        {editable
          ? 'Arrow keys move between steps and notes, Tab adds a step, N adds a note, Enter opens the form of a step or note, Delete removes it, Alt and an arrow key move it.'
          : 'Arrow keys move between steps and notes, Enter opens the form of one.'}{' '}
        Escape and then Tab leaves the canvas.
      </p>
      {editable ? null : <p className="text-xs text-muted">You can view this draft, but not edit it.</p>}
    </>
  );
}

type CanvasProps = Omit<StepsEditorProps, 'takesFocus' | 'onLoop'> & {
  /** Those of the steps that are edited. */
  problems: readonly Problem[];
  editor: Editor;
  onAdd: (place: Place, type?: string) => void;
};

function Canvas({
  view,
  problems,
  editable,
  stepTypes,
  editor,
  onAdd,
  onAddNote,
  onInspect,
}: CanvasProps & { onInspect: (node: string) => void; onAddNote: (() => void) | undefined }) {
  const frame = useRef<HTMLElement>(null);
  const [search, setSearch] = useState<string | null>(null);
  const errors = useMemo(() => countErrors(problems), [problems]);
  const drawing = useLateTexts(editor.drawing);
  const { steps } = editor.drawing;
  const found = useMemo(() => (search === null ? [] : findSteps(steps, search)), [steps, search]);
  const foundSet = useMemo(() => (found.length === 0 ? nothing : new Set(found)), [found]);
  useCanvasKeys(frame, { editor, editable, onAdd, onAddNote, onSearch: () => setSearch(search ?? ''), onInspect });
  useEffect(() => {
    // A person who has just come to an empty workflow starts here.
    if (editable && graphSteps(view.state.draft).length === 0) frame.current?.focus({ preventScroll: true });
  }, [editable, view]);
  const { focus, onFocused } = editor;
  useEffect(() => {
    if (focus === null || focus.step !== null) return;
    frame.current?.focus({ preventScroll: true });
    onFocused();
  }, [focus, onFocused]);
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
      className="relative h-[60dvh] min-h-80 overflow-hidden rounded-lg border bg-sunken lg:h-[68dvh]"
    >
      {isEmpty ? (
        <EmptyCanvas editable={editable} onAdd={() => onAdd({ kind: 'free' })} />
      ) : !drawing.isLaidOut ? (
        <Skeleton className="h-full w-full" />
      ) : (
        <EditorCanvas
          drawing={drawing}
          notes={editor.notes}
          places={editor.places}
          problems={errors}
          marks={noMarks}
          selected={editor.selected}
          selectedEdge={editor.edge}
          selectedNote={editor.note}
          found={foundSet}
          editable={editable}
          focus={focus}
          onFocused={onFocused}
          onSelect={editor.select}
          onSelectEdge={editor.selectEdge}
          onSelectNote={editor.selectNote}
          onResizeNote={editor.resizeNote}
          onOpenNode={onInspect}
          onAdd={onAdd}
          onMove={editor.moveNodes}
          onConnect={editor.connect}
          onReconnect={editor.reconnect}
        />
      )}
      {isEmpty ? null : (
        <CanvasTools
          {...{ view, editor, editable, stepTypes, onAddNote, found, search }}
          onSearch={setSearch}
          onClose={closeSearch}
        />
      )}
    </section>
  );
}

type ToolsProps = Pick<CanvasProps, 'view' | 'editor' | 'editable' | 'stepTypes'> & {
  onAddNote: (() => void) | undefined;
  /** The text that is searched for; null: the search is closed. */
  search: string | null;
  found: readonly string[];
  onSearch: (text: string) => void;
  onClose: () => void;
};

/** Shows the tools over the canvas. They are a component of their own, to render without the canvas. */
function CanvasTools({ view, editor, editable, stepTypes, onAddNote, search, found, onSearch, onClose }: ToolsProps) {
  return (
    <>
      <Panel position="top-left" data-over-canvas className="m-2! flex max-w-[calc(100%-1rem)] flex-wrap gap-2">
        {editable ? (
          <>
            <StepStrip types={stepTypes} onAdd={type => editor.add(type, editor.nextPlace())} />
            <Toolbar draft={view} editor={editor} onAddNote={onAddNote} onSearch={() => onSearch(search ?? '')} />
          </>
        ) : null}
      </Panel>
      {search === null ? null : (
        <Panel position="top-right" className="m-2!">
          <StepSearch
            found={found}
            text={search}
            onText={onSearch}
            onShow={id => editor.show([id], 'stays')}
            onClose={onClose}
          />
        </Panel>
      )}
    </>
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

type ToolbarProps = {
  draft: StepsDraft;
  editor: Editor;
  onAddNote: (() => void) | undefined;
  onSearch: () => void;
};

function Toolbar({ draft, editor, onAddNote, onSearch }: ToolbarProps) {
  const url = useUrlState();
  const { canUndo, canRedo } = draft.state;
  return (
    <div role="toolbar" aria-label="Edit" className="flex gap-0.5 rounded-lg border bg-surface p-1 shadow-sm">
      <IconButton label="Undo" shortcut="⌘ Z" disabled={!canUndo} onClick={() => sayProblem(draft.store.undo())}>
        <Undo2 aria-hidden className="size-4" />
      </IconButton>
      <IconButton label="Redo" shortcut="⇧ ⌘ Z" disabled={!canRedo} onClick={() => sayProblem(draft.store.redo())}>
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
    </div>
  );
}

function countErrors(problems: readonly Problem[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const problem of problems)
    if (problem.step_id !== null && problem.severity === 'error')
      counts.set(problem.step_id, (counts.get(problem.step_id) ?? 0) + 1);
  return counts;
}
