'use client';
import { Panel } from '@xyflow/react';
import { LayoutDashboard, Plus, Redo2, Search, Undo2, Waypoints } from 'lucide-react';
import dynamic from 'next/dynamic';
import { type RefObject, useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { Button, IconButton } from '../ui/button.tsx';
import { EmptyState, ErrorState } from '../ui/states.tsx';
import { Tabs } from '../ui/tabs.tsx';
import { useUrlState } from '../ui/use-url-state.ts';
import { EditorCanvas } from './canvas/editor-canvas.tsx';
import { useCanvasKeys } from './canvas/use-canvas-keys.ts';
import { CompletionProvider } from './code/use-completion.tsx';
import { ConflictPanel } from './conflict-panel.tsx';
import { graphSteps, type Place } from './editor-actions.ts';
import { formatGraph } from './graph-text.ts';
import { Inspector } from './inspector/inspector.tsx';
import { unfinishedFields } from './inspector/unfinished-fields.ts';
import type { JsonEditorHandle } from './json-editor.tsx';
import { ProblemList } from './problem-list.tsx';
import { SaveIndicator } from './save-indicator.tsx';
import type { StepTypeForm } from './step-fields.ts';
import { StepPalette, StepStrip } from './step-palette.tsx';
import { findSteps, StepSearch } from './step-search.tsx';
import { StepTest } from './trial/step-test.tsx';
import type { Draft, Problem, useValidation } from './use-draft.ts';
import { type Editor, useEditor } from './use-editor.ts';
import { useHistoryKeys } from './use-history-keys.ts';

const JsonEditor = dynamic(() => import('./json-editor.tsx').then(module => module.JsonEditor), { ssr: false });

export type DraftEditorProps = {
  workflowId: string;
  draft: Draft;
  validation: ReturnType<typeof useValidation>;
  stepTypes: readonly StepTypeForm[];
  editable: boolean;
};
type PanelName = 'step' | 'test' | 'json';
const panels: readonly PanelName[] = ['step', 'test', 'json'];
const nothing: ReadonlySet<string> = new Set();

/** The draft as a graph to build, with the selected step as a form beside it, or the whole as JSON. */
export function DraftEditor(props: DraftEditorProps) {
  const { draft, validation, editable, stepTypes } = props;
  const url = useUrlState();
  const editor = useEditor(draft);
  const [place, setPlace] = useState<Place | null>(null);
  const json = useRef<JsonEditorHandle>(null);
  const panel = panels.find(name => name === url.get('panel')) ?? 'step';
  useHistoryKeys(draft.store, editable);
  const onAdd = useCallback(
    (next: Place, type?: string) => (type === undefined ? setPlace(next) : editor.add(type, next)),
    [editor.add],
  );
  const inspect = useCallback(
    (step: string) => {
      url.set({ panel: undefined });
      editor.show([step], 'form');
    },
    [url.set, editor.show],
  );
  const jump = (problem: Pick<Problem, 'step_id' | 'path'>) => {
    if (panel === 'json') {
      if (problem.step_id !== null) editor.show([problem.step_id], 'stays');
      json.current?.jumpTo(problem);
    } else if (problem.step_id !== null) inspect(problem.step_id);
  };
  return (
    <div className="flex flex-col gap-3">
      <ConflictPanel draft={draft} />
      <div className="grid gap-4 lg:grid-cols-[minmax(0,1fr)_360px]">
        <Canvas {...props} editor={editor} onAdd={onAdd} onInspect={inspect} />
        <SidePanel {...props} editor={editor} panel={panel} json={json} onAdd={onAdd} />
      </div>
      {validation.error ? (
        <ErrorState title="The draft could not be checked" error={validation.error} />
      ) : (
        <ProblemList
          steps={draft.state.draft.graph.steps}
          problems={validation.problems}
          checking={validation.checking}
          onJump={jump}
        />
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
        Arrow keys move between steps, Tab adds a step, Enter opens the form of a step, Delete removes it. Escape and
        then Tab leaves the canvas.
      </p>
      {editable ? null : <p className="text-xs text-muted">You can look at this draft, but not change it.</p>}
    </div>
  );
}

type CanvasProps = DraftEditorProps & { editor: Editor; onAdd: (place: Place, type?: string) => void };

function Canvas({
  draft,
  validation,
  editable,
  stepTypes,
  editor,
  onAdd,
  onInspect,
}: CanvasProps & { onInspect: (step: string) => void }) {
  const frame = useRef<HTMLElement>(null);
  const [search, setSearch] = useState<string | null>(null);
  const problems = useMemo(() => countErrors(validation.problems), [validation.problems]);
  const { steps } = editor.drawing;
  const found = useMemo(() => (search === null ? [] : findSteps(steps, search)), [steps, search]);
  const foundSet = useMemo(() => (found.length === 0 ? nothing : new Set(found)), [found]);
  useCanvasKeys(frame, { editor, editable, onAdd, onSearch: () => setSearch(search ?? ''), onInspect });
  useEffect(() => {
    // A person who has just come to an empty workflow starts here.
    if (editable && graphSteps(draft.state.draft).length === 0) frame.current?.focus({ preventScroll: true });
  }, [editable, draft]);
  const { focus, onFocused } = editor;
  useEffect(() => {
    if (focus === null || focus.step !== null) return;
    frame.current?.focus({ preventScroll: true });
    onFocused();
  }, [focus, onFocused]);
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
      {steps.length === 0 ? (
        <EmptyCanvas editable={editable} onAdd={() => onAdd({ kind: 'free' })} />
      ) : (
        <EditorCanvas
          drawing={editor.drawing}
          problems={problems}
          selected={editor.selected}
          selectedEdge={editor.edge}
          found={foundSet}
          editable={editable}
          focus={focus}
          onFocused={onFocused}
          onSelect={editor.select}
          onSelectEdge={editor.selectEdge}
          onOpenStep={onInspect}
          onAdd={onAdd}
          onMove={editor.moveSteps}
          onConnect={editor.connect}
          onReconnect={editor.reconnect}
        >
          <Panel position="top-left" className="m-2! flex flex-wrap gap-2">
            {editable ? (
              <>
                <StepStrip types={stepTypes} onAdd={type => editor.add(type, editor.nextPlace())} />
                <Toolbar draft={draft} editor={editor} onSearch={() => setSearch(search ?? '')} />
              </>
            ) : null}
          </Panel>
          {search === null ? null : (
            <Panel position="top-right" className="m-2!">
              <StepSearch
                found={found}
                text={search}
                onText={setSearch}
                onShow={id => editor.show([id], 'stays')}
                onClose={closeSearch}
              />
            </Panel>
          )}
        </EditorCanvas>
      )}
    </section>
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
        A workflow is a graph of steps: scripts, conditions, questions to people, calls to tools and models.
      </EmptyState>
    </div>
  );
}

function Toolbar({ draft, editor, onSearch }: { draft: Draft; editor: Editor; onSearch: () => void }) {
  const { canUndo, canRedo } = draft.state;
  return (
    <div role="toolbar" aria-label="Edit" className="flex gap-1 rounded-lg border bg-surface p-1 shadow-sm">
      <IconButton label="Undo" shortcut="⌘ Z" disabled={!canUndo} onClick={() => draft.store.undo()}>
        <Undo2 aria-hidden className="size-4" />
      </IconButton>
      <IconButton label="Redo" shortcut="⇧ ⌘ Z" disabled={!canRedo} onClick={() => draft.store.redo()}>
        <Redo2 aria-hidden className="size-4" />
      </IconButton>
      <IconButton label="Arrange automatically" onClick={editor.layOut}>
        <LayoutDashboard aria-hidden className="size-4" />
      </IconButton>
      <IconButton label="Search steps" shortcut="⌘ F" onClick={onSearch}>
        <Search aria-hidden className="size-4" />
      </IconButton>
    </div>
  );
}

type SideProps = CanvasProps & {
  panel: PanelName;
  json: RefObject<JsonEditorHandle | null>;
};

function SidePanel({ workflowId, draft, validation, editable, stepTypes, editor, panel, json, onAdd }: SideProps) {
  const url = useUrlState();
  const [unfinished] = useState(() => unfinishedFields(workflowId));
  const frame = useRef<HTMLElement>(null);
  useEscape(frame, editor.refocus);
  return (
    <section
      ref={frame}
      aria-label="Step and JSON"
      className="flex min-w-0 flex-col overflow-hidden rounded-lg border bg-surface px-3 lg:h-[68dvh]"
    >
      <Tabs
        label="Ways to edit"
        value={panel}
        onChange={next => url.set({ panel: next === 'step' ? undefined : next })}
        tabs={[
          {
            value: 'step',
            label: 'Step',
            content: (
              <div className="-mx-3 -mt-4 h-full lg:overflow-y-auto">
                <CompletionProvider workflowId={workflowId} draft={draft}>
                  <Inspector
                    workflowId={workflowId}
                    store={draft.store}
                    editor={editor}
                    types={stepTypes}
                    problems={validation.problems}
                    editable={editable}
                    unfinished={unfinished}
                    onAdd={onAdd}
                  />
                </CompletionProvider>
              </div>
            ),
          },
          {
            value: 'test',
            label: 'Test',
            content: (
              <div className="-mx-3 -mt-4 h-full lg:overflow-y-auto">
                <StepTest workflowId={workflowId} draft={draft} editor={editor} editable={editable} kept={unfinished} />
              </div>
            ),
          },
          {
            value: 'json',
            label: 'JSON',
            content: <JsonView draft={draft} editable={editable} problems={validation.problems} handle={json} />,
          },
        ]}
      />
      {editable ? (
        <div className="border-t py-1">
          <SaveIndicator draft={draft} />
        </div>
      ) : null}
    </section>
  );
}

/** Escape leads from a form back to the step on the canvas. */
function useEscape(frame: RefObject<HTMLElement | null>, onEscape: () => void): void {
  useEffect(() => {
    const panel = frame.current;
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key === 'Escape' && !event.defaultPrevented) onEscape();
    };
    panel?.addEventListener('keydown', onKeyDown);
    return () => panel?.removeEventListener('keydown', onKeyDown);
  }, [frame, onEscape]);
}

type JsonProps = {
  draft: Draft;
  editable: boolean;
  problems: readonly Problem[];
  handle: RefObject<JsonEditorHandle | null>;
};

function JsonView({ draft, editable, problems, handle }: JsonProps) {
  const { text, textProblem, draft: current } = draft.state;
  const shown = useMemo(() => text ?? formatGraph(current.graph), [text, current.graph]);
  return (
    <div className="flex h-full flex-col gap-2">
      {textProblem === null ? null : (
        <div className="flex flex-wrap items-center gap-2 text-xs text-warn">
          <p className="min-w-0 flex-1 basis-40">Until this JSON is finished, the rest of the editor waits for it.</p>
          <Button size="sm" onClick={() => draft.store.discardText()}>
            Discard
          </Button>
        </div>
      )}
      <div className="h-[50dvh] min-h-0 lg:h-auto lg:flex-1">
        <JsonEditor
          label="Graph as JSON"
          value={shown}
          onChange={next => draft.store.typeText(next)}
          readOnly={!editable}
          problems={problems}
          handle={handle}
          ownHistory={false}
        />
      </div>
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
