'use client';
import { MousePointerClick } from 'lucide-react';
import { StepInspector } from '../../runs/step-inspector.tsx';
import { EmptyState } from '../../ui/states.tsx';
import type { Editor } from '../use-editor.ts';
import type { RunOverDraft } from './run-over.tsx';

/** Shows how the selected step went in the run that is shown over the draft: its input, result, attempts and log. */
export function StepInRun({ run, workflowId, editor }: { run: RunOverDraft; workflowId: string; editor: Editor }) {
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
  return (
    <div className="-mx-3 -mt-4 h-full p-3 lg:overflow-y-auto">
      <StepInspector
        key={step.id}
        workflowId={workflowId}
        runId={run.runId}
        live={run.live}
        step={step}
        spec={spec}
        onSelect={next => editor.show([next], 'stays')}
        onClose={() => editor.select(new Set())}
      />
    </div>
  );
}
