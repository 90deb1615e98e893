'use client';
import { MousePointerClick } from 'lucide-react';
import type { ReactNode } from 'react';
import type { Json } from '@/server/platform/json.ts';
import { StepInspector } from '../../runs/step-inspector.tsx';
import { StepValues, useStepInRun } from '../../runs/step-values.tsx';
import { EmptyState } from '../../ui/states.tsx';
import { StepColumns } from '../step-columns.tsx';
import { PinButton, PinnedResult } from '../trial/pin-controls.tsx';
import type { Draft } from '../use-draft.ts';
import type { Editor } from '../use-editor.ts';
import type { RunOverDraft } from './run-over.tsx';

type Props = {
  run: RunOverDraft;
  workflowId: string;
  draft: Draft;
  editor: Editor;
  editable: boolean;
  /**
   * The form of the step, if it fits between the input and the result of the step; null if the form has its own tab.
   */
  settings: ReactNode;
};

/** Shows the selected step in the run that is shown over the draft: its input, result, attempts and log. */
export function StepInRun({ run, workflowId, draft, editor, editable, settings }: Props) {
  const [id] = editor.selected;
  const step = id === undefined ? undefined : run.live.state.steps.get(id);
  const spec = run.steps.find(each => each.id === id);
  if (step === undefined || spec === undefined)
    return (
      <EmptyState icon={MousePointerClick} title={id === undefined ? 'No step selected' : 'Not part of this run'}>
        {id === undefined
          ? 'Select a step to see its input and its result in this run.'
          : 'The step was added to the draft after this run.'}
      </EmptyState>
    );
  const ref = { workflowId, runId: run.runId };
  const hasBegun = step.attempts.length > 0 || step.reused;
  const output = (
    <StepInspector
      key={step.id}
      {...ref}
      live={run.live}
      step={step}
      spec={spec}
      onSelect={next => editor.show([next], 'stays')}
      onClose={() => editor.select(new Set())}
      outputOnly={settings !== null}
    >
      {hasBegun && editable ? <Pinning {...ref} step={step} draft={draft} /> : null}
      <PinnedResult draft={draft} step={step.id} editable={editable} />
    </StepInspector>
  );
  if (settings === null) return <div className="-mx-3 -mt-4 h-full p-3 lg:overflow-y-auto">{output}</div>;
  const input = hasBegun ? (
    <StepValues {...ref} step={step} part="input" />
  ) : (
    <p className="text-sm text-muted">The step has not run.</p>
  );
  return (
    <StepColumns input={<div className="flex flex-col gap-4 p-4">{input}</div>} settings={settings} output={output} />
  );
}

type PinningProps = Parameters<typeof useStepInRun>[0] & { draft: Draft };

/** Offers to pin the result of the step in this run. */
function Pinning({ draft, ...shown }: PinningProps) {
  const { data } = useStepInRun(shown);
  const isPresent = draft.state.draft.graph.steps.some(({ id }) => id === shown.step.id);
  if (!data?.has_result || data.result_ref !== undefined || !isPresent) return null;
  return <PinButton draft={draft} step={shown.step.id} result={data.result as Json} />;
}
