'use client';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import type { Step } from '../../server/domains/workflows/edits/index.ts';
import type { JsonEditorHandle } from '../code/json-editor.tsx';
import { levelAt, placeOf } from '../graph/levels.ts';
import { drawnNotes } from '../graph/notes.ts';
import { useLevels } from '../graph/use-levels.ts';
import { useHotkeys } from '../ui/use-hotkeys.ts';
import { useUrlState } from '../ui/use-url-state.ts';
import { ProposalCanvas } from './autopilot/proposal-canvas.tsx';
import { useGhosts } from './autopilot/use-ghosts.ts';
import { DraftCanvas } from './canvas/draft-canvas.tsx';
import { useLayout } from './canvas/use-layout.ts';
import { useOpenLoops } from './canvas/use-open-loops.ts';
import { ConflictPanel } from './conflict-panel.tsx';
import { DraftCheckFailure } from './draft-check-failure.tsx';
import { graphSteps, type Place } from './editor-actions.ts';
import type { UnfinishedFields } from './inspector/unfinished-fields.ts';
import { KeptEditsBanner } from './kept/kept-edits-banner.tsx';
import { useKeptEdits } from './kept/use-kept-edits.ts';
import { innerProblem, problemsInside } from './loop-problems.ts';
import type { StepsDraft } from './loop-store.ts';
import { LoopPath, useLoops, useStepsDraft } from './loops.tsx';
import { RunOver, type RunOverDraft } from './over/run-over.tsx';
import { ProblemList } from './problem-list.tsx';
import { inConsoleWords } from './problem-words.ts';
import { ResizableSide, useSide } from './resizable-side.tsx';
import { panels, SidePanel } from './side-panel.tsx';
import { useColumns } from './step-columns.tsx';
import type { StepTypeForm } from './step-fields.ts';
import type { Draft, Problem, Validation } from './use-draft.ts';
import { type Editor, useEditor } from './use-editor.ts';
import { useHistoryKeys } from './use-history-keys.ts';
import { useSelectedLevel } from './use-selected-level.ts';

export type DraftEditorProps = {
  workflowId: string;
  draft: Draft;
  validation: Validation;
  stepTypes: readonly StepTypeForm[];
  editable: boolean;
};

/** The editor of a draft: the graph, with a form for the selected step beside it, or the whole graph as JSON. */
export function DraftEditor(props: DraftEditorProps) {
  const { workflowId, draft, editable } = props;
  const kept = useKeptEdits(workflowId, draft, editable);
  useHistoryKeys(draft.store, editable);
  const { path, view, onLoop, moved, adds } = useLoops(draft);
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <KeptEditsBanner kept={kept} />
      <ConflictPanel draft={draft} />
      <LoopPath path={path} onLoop={onLoop} />
      <StepsEditor
        key={`${path.join('.')}:${kept.restored}`}
        {...props}
        view={view}
        path={path}
        unfinished={kept.fields}
        takesFocus={moved && !adds}
        adds={adds}
        onLoop={onLoop}
      />
    </div>
  );
}

type StepsEditorProps = DraftEditorProps & {
  /** The steps that are edited: the steps of the draft, or of a loop in it. */
  view: StepsDraft;
  /** The ids of the shown loop and of the loops around it, the outermost first. */
  path: readonly string[];
  unfinished: UnfinishedFields;
  /** Whether the canvas takes the focus, because the user came here from a loop or from the steps around it. */
  takesFocus: boolean;
  /** Whether the palette is open at first. */
  adds: boolean;
  onLoop: (path: readonly string[], step?: string, adds?: boolean) => void;
};

function StepsEditor({ view: root, path, takesFocus, adds, onLoop, ...props }: StepsEditorProps) {
  const { workflowId, draft, validation, editable } = props;
  const url = useUrlState();
  const canvas = useCanvasLevels(workflowId, draft, root, path);
  const { view, editor, level } = canvas;
  const { place, setPlace, onAdd } = useAdding(editor, adds);
  const json = useRef<JsonEditorHandle>(null);
  const side = useSide();
  useHotkeys({ ']': side.toggle });
  const panel = panels.find(name => name === url.get('panel') && (editable || name !== 'test')) ?? 'step';
  const { steps } = draft.state.draft.graph;
  const proposal = panel === 'autopilot' && path.length === 0 ? url.get('proposal') || url.get('drawn') : '';
  const ghosts = useGhosts(graphSteps(draft.state.draft), proposal === '' ? null : proposal);
  const { allProblems, canvasProblems, problems } = useProblems(validation, { steps, path, level });
  const [run, setRun] = useState<RunOverDraft | null>(null);
  const hasColumns = (panel === 'run' && run !== null) || panel === 'test';
  const columns = useColumns() && hasColumns && editor.selected.size === 1;
  const over = path.length === 0 ? url.get('over') : '';
  useArrival(editor, takesFocus);
  useShownBeside(editor, columns);
  const { inspect, addNote } = useInspection(editor, side);
  const jump = (problem: Problem) => {
    const here = innerProblem(problem, steps, level);
    if (panel === 'json') {
      if (here?.step_id != null) editor.show([here.step_id], 'stays');
      json.current?.jumpTo(problem);
    } else if (here?.step_id != null) inspect(here.step_id);
    else if (problem.step_id !== null) onLoop([], problem.step_id);
  };
  const shared = { ...props, view, problems, editor, onAdd };
  return (
    <>
      {over === '' ? null : (
        <RunOver workflowId={workflowId} runId={over} onChange={setRun} onClose={() => url.set({ over: undefined })} />
      )}
      <div className="flex min-h-0 flex-1 flex-col lg:flex-row">
        <div className="flex min-h-0 min-w-0 flex-col lg:flex-1">
          {ghosts === null ? (
            <DraftCanvas
              {...shared}
              path={path}
              root={root}
              levels={canvas.levels}
              isLaidOut={canvas.isLaidOut}
              canvasProblems={canvasProblems}
              onToggleLoop={canvas.toggleLoop}
              place={place}
              onPlace={setPlace}
              onInspect={inspect}
              onAddNote={level.length === 0 ? addNote : undefined}
              marks={run?.marks ?? null}
              panel={side}
            />
          ) : (
            <ProposalCanvas
              ghosts={ghosts}
              notes={drawnNotes(draft.state.draft.graph)}
              onClose={() => url.set({ proposal: undefined, drawn: undefined })}
            />
          )}
          {!validation.enabled ? null : validation.error ? (
            <DraftCheckFailure validation={validation} />
          ) : (
            <ProblemList steps={steps} problems={allProblems} checking={validation.checking} onJump={jump} />
          )}
        </div>
        <ResizableSide side={side} columns={columns}>
          <SidePanel
            {...shared}
            path={level}
            allProblems={allProblems}
            panel={panel}
            columns={columns}
            json={json}
            run={run}
            onOpenLoop={(loop, { step, adds = false } = {}) => onLoop([...level, loop], step, adds)}
          />
        </ResizableSide>
      </div>
      <p className="sr-only" id="canvas-keys">
        {editable
          ? 'Arrow keys move between steps and notes, Tab adds a step, N adds a note, Enter opens the form of a step or note, Delete removes it, Alt and an arrow key move it. O opens or closes a loop, Shift and Enter lead to its steps, Escape leads back. Shift and an arrow key select several steps, L groups them into a loop, X extracts a sub-workflow, Alt, Shift and an arrow key align them. S shows how the workflow starts, M shows or hides the map.'
          : 'Arrow keys move between steps and notes, Enter opens the form of one.'}{' '}
        Escape and then Tab leaves the canvas.
      </p>
    </>
  );
}

/** Returns the place for which the palette is open, and a function that opens it or adds a step of a given type at once. */
function useAdding({ add }: Pick<Editor, 'add'>, isOpen: boolean) {
  const [place, setPlace] = useState<Place | null>(isOpen ? { kind: 'free' } : null);
  const onAdd = useCallback(
    (next: Place, type?: string) => {
      setPlace(type === undefined ? next : null);
      if (type !== undefined) add(type, next);
    },
    [add],
  );
  return { place, setPlace, onAdd };
}

type Shown = { steps: readonly Step[]; path: readonly string[]; level: readonly string[] };

/** Returns the problems of the draft, of the canvas, and of the edited steps. */
function useProblems({ problems: found }: Validation, { steps, path, level }: Shown) {
  // Translated here, because the workflow page loads without the console texts.
  const allProblems = useMemo(() => found.map(problem => inConsoleWords(problem)), [found]);
  const canvasProblems = useMemo(() => problemsInside(allProblems, steps, path), [allProblems, steps, path]);
  const problems = useMemo(() => problemsInside(allProblems, steps, level), [allProblems, steps, level]);
  return { allProblems, canvasProblems, problems };
}

/** Returns the steps of the canvas and of its expanded loops, and the editor of the level that contains the selection. */
function useCanvasLevels(workflowId: string, draft: Draft, root: StepsDraft, path: readonly string[]) {
  const { graph } = root.state.draft;
  const drawing = useLayout(graphSteps(root.state.draft));
  const selected = useSelectedLevel(graph.steps);
  const { inside, select } = selected;
  const level = useMemo(() => [...path, ...inside], [path, inside]);
  const inner = useStepsDraft(draft, level);
  const view = inside.length === 0 ? root : inner;
  const notes = useMemo(() => drawnNotes(graph), [graph]);
  const { isOpen, setLoop } = useOpenLoops(workflowId, path, drawing.steps);
  const around = inside.join('.');
  // The edited steps are always shown.
  const isShown = useCallback((node: string) => isOpen(node) || `${around}.`.startsWith(`${node}.`), [isOpen, around]);
  const levels = useLevels(drawing, notes, isShown);
  const own = inside.length === 0 ? undefined : levelAt(levels, around);
  const editor = useEditor(view, own === undefined ? drawing : { ...own, isLaidOut: true }, selected);
  const toggleLoop = useCallback(
    (loop: string, open: boolean) => {
      setLoop(loop, open);
      const isAround = !open && `${around}.`.startsWith(`${loop}.`);
      const place = placeOf(loop);
      if (isAround) select(new Set([place.step]), place.level);
    },
    [setLoop, select, around],
  );
  return { level, view, editor, levels, isLaidOut: drawing.isLaidOut, toggleLoop };
}

/** Focuses the canvas once if the user came here from a loop or from the steps around it. */
function useArrival({ refocus }: Editor, takesFocus: boolean): void {
  const arrived = useRef(takesFocus);
  useEffect(() => {
    if (arrived.current) refocus();
    arrived.current = false;
  }, [refocus]);
}

/** Brings the selected step into the part of the canvas that the columns leave visible. */
function useShownBeside({ selected, show }: Editor, columns: boolean): void {
  const step = useRef<string | undefined>(undefined);
  [step.current] = selected;
  useEffect(() => {
    if (!columns) return;
    // Waits until the canvas has its new width.
    let frame = requestAnimationFrame(() => {
      frame = requestAnimationFrame(() => {
        if (step.current !== undefined) show([step.current], 'stays');
      });
    });
    return () => cancelAnimationFrame(frame);
  }, [columns, show]);
}

/** Returns functions that open the side panel with the form of a step, a note or a new note. */
function useInspection(editor: Editor, { show }: ReturnType<typeof useSide>) {
  const url = useUrlState();
  const inUrl = url.get('panel') + url.get('settings');
  useEffect(() => {
    if (inUrl !== '') show();
  }, [inUrl, show]);
  const inspect = useCallback(
    (node: string) => {
      url.set({ panel: undefined });
      show();
      editor.showNode(node, 'form');
    },
    [url.set, show, editor.showNode],
  );
  const addNote = useCallback(() => {
    url.set({ panel: undefined });
    show();
    editor.addNote();
  }, [url.set, show, editor.addNote]);
  return { inspect, addNote };
}
