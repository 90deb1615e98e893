'use client';
import dynamic from 'next/dynamic';
import { type RefObject, useEffect, useMemo, useRef } from 'react';
import type { JsonEditorHandle } from '../code/json-editor.tsx';
import { Button } from '../ui/button.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { Tabs } from '../ui/tabs.tsx';
import { useUrlState } from '../ui/use-url-state.ts';
import { CompletionProvider } from './code/use-completion.tsx';
import { formatGraph } from './graph-text.ts';
import { Inspector, type InspectorProps } from './inspector/inspector.tsx';
import type { StepsDraft } from './loop-store.ts';
import type { RunOverDraft } from './over/run-over.tsx';
import type { StepTypeForm } from './step-fields.ts';
import type { Draft, Problem } from './use-draft.ts';
import type { Editor } from './use-editor.ts';

const AutopilotPanel = dynamic(() => import('./autopilot/autopilot-panel.tsx').then(module => module.AutopilotPanel), {
  ssr: false,
  loading: () => <Skeleton className="m-4 h-40" />,
});
const StepInRun = dynamic(() => import('./over/step-in-run.tsx').then(module => module.StepInRun), { ssr: false });
const StepTest = dynamic(() => import('./trial/step-test.tsx').then(module => module.StepTest), {
  ssr: false,
  loading: () => <Skeleton className="m-4 h-40" />,
});
const JsonEditor = dynamic(() => import('../code/json-editor.tsx').then(module => module.JsonEditor), { ssr: false });

export type PanelName = 'step' | 'run' | 'test' | 'json' | 'autopilot';
export const panels: readonly PanelName[] = ['step', 'run', 'test', 'json', 'autopilot'];

type SidePanelProps = Pick<
  InspectorProps,
  'workflowId' | 'editor' | 'problems' | 'editable' | 'unfinished' | 'onAdd' | 'onOpenLoop'
> & {
  draft: Draft;
  /** The edited steps: those of the draft, or of a loop in it. */
  view: StepsDraft;
  /** The ids of the shown loop and of its outer loops, outermost first. */
  path: readonly string[];
  /** The problems of the whole draft. */
  allProblems: readonly Problem[];
  stepTypes: readonly StepTypeForm[];
  panel: PanelName;
  /** Whether the form of the step is shown between its input and its output. */
  columns: boolean;
  /** The run that is shown over the draft. */
  run: RunOverDraft | null;
  json: RefObject<JsonEditorHandle | null>;
};

/** The form of the selected step, its test, and the whole graph as JSON. */
export function SidePanel(props: SidePanelProps) {
  const { workflowId, draft, view, path, editable, stepTypes, editor, run, panel, json, unfinished, columns } = props;
  const url = useUrlState();
  const frame = useRef<HTMLElement>(null);
  useEscape(frame, editor.refocus);
  const form = (
    <CompletionProvider workflowId={workflowId} draft={draft} loop={path}>
      <Inspector
        workflowId={workflowId}
        loop={path}
        store={view.store}
        editor={columns ? unfocused(editor) : editor}
        types={stepTypes}
        problems={props.problems}
        editable={editable}
        unfinished={unfinished}
        onAdd={props.onAdd}
        onOpenLoop={props.onOpenLoop}
      />
    </CompletionProvider>
  );
  const settings = columns ? form : null;
  return (
    <section
      ref={frame}
      aria-label="Step and JSON"
      className="flex min-h-0 min-w-0 flex-1 flex-col overflow-hidden px-3"
    >
      <Tabs
        label="Ways to edit"
        value={panel === 'run' && run === null ? 'step' : panel}
        onChange={next => url.set({ panel: next === 'step' ? undefined : next })}
        tabs={[
          {
            value: 'step',
            label: 'Step',
            content: <div className="-mx-3 -mt-4 h-full lg:overflow-y-auto">{form}</div>,
          },
          ...(run === null
            ? []
            : [
                {
                  value: 'run' as const,
                  label: 'In this run',
                  content: <StepInRun {...{ run, workflowId, draft, editor, editable, settings }} />,
                },
              ]),
          ...(editable
            ? [
                {
                  value: 'test' as const,
                  label: 'Test',
                  content: (
                    <StepTest {...{ workflowId, draft, view, loop: path, editor, settings }} kept={unfinished} />
                  ),
                },
              ]
            : []),
          {
            value: 'json',
            label: 'JSON',
            content: <JsonView draft={draft} editable={editable} problems={props.allProblems} handle={json} />,
          },
          {
            value: 'autopilot',
            label: 'Autopilot',
            content: (
              <div className="-mx-3 -mt-4 h-full lg:overflow-y-auto">
                <AutopilotPanel workflowId={workflowId} draft={draft} editable={editable} />
              </div>
            ),
          },
        ]}
      />
    </section>
  );
}

/**
 * The form in the middle column takes no focus: a request for the focus also selects the tab of the step, and Next
 * renders that tab later, with another instance of the form.
 */
const unfocused = (editor: Editor): Editor => ({ ...editor, focus: null });

/** Moves the focus from a form back to the step on the canvas when Escape is pressed. */
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
          <p className="min-w-0 flex-1 basis-40">Finish this JSON to use the rest of the editor.</p>
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
