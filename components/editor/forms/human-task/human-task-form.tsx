'use client';
import { Eye } from 'lucide-react';
import dynamic from 'next/dynamic';
import { useId, useState } from 'react';
import { isObject, isTexts, type Json } from '@/server/platform/json.ts';
import { Button } from '../../../ui/button.tsx';
import { LazyMarkdown } from '../../../ui/lazy-markdown.tsx';
import { useDebounced } from '../../../ui/use-debounced.ts';
import type { StepFormProps } from '../../inspector/step-forms.ts';
import { changeRenamed } from '../../schema-builder/change-renamed.ts';
import { FormField } from '../../schema-builder/form-field.tsx';
import { previewOf } from '../../values/template-preview.ts';
import { useSamples } from '../../values/value-preview.tsx';
import { AssigneesField } from './assignees-field.tsx';
import { TimeLimitFields } from './time-limit-fields.tsx';

const TaskPreview = dynamic(() => import('./task-preview.tsx').then(module => module.TaskPreview), { ssr: false });

/** The fields for which this form has its own controls. */
const OWN_FIELDS: ReadonlySet<string> = new Set(['assignees', 'instructions', 'form', 'on_timeout']);

/** The form of a human task: assignees, instructions, form fields and time limit. */
export function HumanTaskForm(props: StepFormProps) {
  const { step, fields, readOnly, set, problemOf, draw } = props;
  const instructions = useInstructions(step.id, step.instructions);
  const form = fields.find(({ name }) => name === 'form');
  const isList = step.assignees === undefined || isTexts(step.assignees);
  return (
    <>
      {isList ? (
        <AssigneesField
          step={step.id}
          assignees={isTexts(step.assignees) ? step.assignees : []}
          readOnly={readOnly}
          problem={problemOf('assignees', 'error')}
          onChange={assignees => set({ assignees: assignees.length === 0 ? undefined : assignees })}
        />
      ) : (
        draw('assignees')
      )}
      <Instructions text={instructions} field={draw('instructions')} />
      {form === undefined ? null : (
        <FormField
          workflowId={props.workflowId}
          id={[...props.loop, step.id, 'form'].join('.')}
          field={{ ...form, label: 'Form', hint: 'What the person fills in. The answers are the result of the step.' }}
          list="Fields of the form"
          empty="No fields: the person approves or rejects."
          step={step}
          value={step.form}
          readOnly={readOnly}
          unfinished={props.unfinished}
          problem={problemOf('form', 'error')}
          onChange={value => set({ form: value })}
          onRename={(value, renamed) =>
            changeRenamed(props.store, {
              owner: { step: step.id },
              renamed,
              edit:
                value === undefined
                  ? { type: 'update_step', step: step.id, unset: ['form'] }
                  : { type: 'update_step', step: step.id, set: { form: value } },
              key: `${step.id}.form`,
            })
          }
          action={<PreviewButton step={step} instructions={instructions} />}
        />
      )}
      <TimeLimitFields
        limit={{
          timeout_s: typeof step.timeout_s === 'number' ? step.timeout_s : undefined,
          on_timeout: typeof step.on_timeout === 'string' ? step.on_timeout : undefined,
        }}
        problem={problemOf('on_timeout', 'error') ?? problemOf('on_timeout', 'warning')}
        readOnly={readOnly}
        onChange={set}
      />
      {fields.filter(({ name }) => !OWN_FIELDS.has(name)).map(({ name }) => draw(name))}
    </>
  );
}

/** Returns the instructions with known values of the last run filled in. */
function useInstructions(step: string, instructions: unknown): string {
  const text = useDebounced(typeof instructions === 'string' ? instructions : '');
  const samples = useSamples(step, text.includes('{{') ? text : '');
  return samples === null ? text : (previewOf(text, samples) ?? text);
}

/** The instructions, as written or as a preview. */
function Instructions({ text, field }: { text: string; field: StepFormField }) {
  const [isPreview, setIsPreview] = useState(false);
  const panel = useId();
  const hasText = text.trim() !== '';
  return (
    <div className="flex flex-col gap-1.5">
      {isPreview && hasText ? (
        <>
          <p className="flex min-h-7 items-center text-sm font-medium">Instructions</p>
          <div id={panel} className="min-h-18 rounded-md border bg-sunken px-3 py-2">
            <LazyMarkdown text={text} />
          </div>
        </>
      ) : (
        field
      )}
      {hasText ? (
        <Button
          size="sm"
          variant="ghost"
          className="self-start"
          aria-pressed={isPreview}
          icon={<Eye aria-hidden className="size-3.5" />}
          onClick={() => setIsPreview(!isPreview)}
        >
          {isPreview ? 'Edit text' : 'Preview text'}
        </Button>
      ) : null}
    </div>
  );
}

type StepFormField = ReturnType<StepFormProps['draw']>;

function PreviewButton({ step, instructions }: Pick<StepFormProps, 'step'> & { instructions: string }) {
  const [open, setOpen] = useState(false);
  const form = step.form as Json | undefined;
  return (
    <>
      <Button size="sm" icon={<Eye aria-hidden className="size-3.5" />} onClick={() => setOpen(true)}>
        Preview
      </Button>
      {open ? (
        <TaskPreview
          name={typeof step.name === 'string' && step.name !== '' ? step.name : step.id}
          instructions={instructions}
          form={isObject(form) ? form : null}
          onClose={() => setOpen(false)}
        />
      ) : null}
    </>
  );
}
