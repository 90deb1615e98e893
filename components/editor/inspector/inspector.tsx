'use client';
import { Ban, Copy, MousePointerClick, Repeat, Trash2, TriangleAlert } from 'lucide-react';
import { type ReactNode, type RefObject, useEffect, useRef, useState } from 'react';
import { languagesOf } from '@/server/orchestrator/languages/language-help.ts';
import type { Json } from '../../../server/domains/workflows/edits/index.ts';
import { stepsOfLoop } from '../../graph/loop-steps.ts';
import { Button } from '../../ui/button.tsx';
import { Field, Input } from '../../ui/field.tsx';
import { LazyMarkdown } from '../../ui/lazy-markdown.tsx';
import { EmptyState } from '../../ui/states.tsx';
import { change } from '../change.ts';
import type { Place } from '../editor-actions.ts';
import { isInLoop } from '../loop-problems.ts';
import type { StepsStore } from '../loop-store.ts';
import { NoteForm } from '../notes/note-form.tsx';
import type { StepField, StepTypeForm } from '../step-fields.ts';
import type { Problem } from '../use-draft.ts';
import type { Editor } from '../use-editor.ts';
import { Connections } from './connections.tsx';
import { InnerProblems } from './inner-problems.tsx';
import { LanguageReference } from './language-help.tsx';
import { SchemaField } from './schema-field.tsx';
import { stepForms } from './step-forms.ts';
import { StepHeader, StepId, type StepProps } from './step-header.tsx';
import { StepHelp } from './step-help.tsx';
import { formOf } from './step-settings.ts';
import type { UnfinishedFields } from './unfinished-fields.ts';
import { WorkflowFields } from './workflow-fields.tsx';

export type InspectorProps = {
  workflowId: string;
  /** The loops around the edited steps, the outermost first. */
  loop: readonly string[];
  store: StepsStore;
  editor: Editor;
  types: readonly StepTypeForm[];
  problems: readonly Problem[];
  editable: boolean;
  unfinished: UnfinishedFields;
  onAdd: (place: Place) => void;
  onOpenLoop: OpenLoop;
};

/** Opens a loop: with the given step selected, or with the palette open. */
export type OpenLoop = (loop: string, at?: { step?: string; adds?: boolean }) => void;

/** The form of the selected step or note. */
export function Inspector(props: InspectorProps) {
  const { store, editor } = props;
  const renamed = useRef<string | null>(null);
  const note = editor.notes.find(({ id }) => id === editor.note);
  if (note !== undefined)
    return <NoteForm key={note.id} note={note} store={store} editor={editor} editable={props.editable} />;
  const { steps } = store.state.draft.graph;
  const chosen = steps.filter(({ id }) => editor.selected.has(id));
  const [step] = chosen;
  if (step === undefined)
    return (
      <>
        <EmptyState icon={MousePointerClick} title="No step selected">
          {props.editable
            ? 'Select a step to edit it. Press Tab on the canvas, or use “+”, to add one.'
            : 'Select a step to view its settings.'}
        </EmptyState>
        {props.loop.length === 0 ? <AboutWorkflow {...props} /> : null}
      </>
    );
  if (chosen.length > 1) return <ManySteps {...props} count={chosen.length} />;
  return <StepForm key={step.id} {...props} step={step} renamed={renamed} />;
}

/** The description of the workflow, and its own fields. */
function AboutWorkflow(props: InspectorProps) {
  const { description } = props.store.state.draft;
  return (
    <>
      {description === '' ? null : (
        <section aria-label="Description" className="border-t p-4 text-sm">
          <LazyMarkdown text={description} />
        </section>
      )}
      <WorkflowFields {...props} />
    </>
  );
}

function ManySteps({ editor, editable, count }: InspectorProps & { count: number }) {
  return (
    <div className="flex flex-col gap-3 p-4">
      <h2 className="text-base font-semibold">{count} steps selected</h2>
      {editable ? <StepButtons editor={editor} /> : null}
    </div>
  );
}

function StepButtons({ editor }: { editor: Editor }) {
  return (
    <div className="flex flex-wrap gap-2">
      <Button size="sm" icon={<Copy aria-hidden className="size-3.5" />} onClick={editor.duplicateSelected}>
        Duplicate
      </Button>
      <Button size="sm" icon={<Ban aria-hidden className="size-3.5" />} onClick={editor.toggleDisabled}>
        Disable or enable
      </Button>
      <Button
        size="sm"
        variant="danger"
        icon={<Trash2 aria-hidden className="size-3.5" />}
        onClick={editor.removeSelected}
      >
        Delete
      </Button>
    </div>
  );
}

function StepForm(props: StepProps) {
  const { store, editor, step, types, problems, editable, unfinished, renamed } = props;
  const first = useFocusOf(step.id, editor);
  const form = types.find(({ type }) => type === step.type);
  const stepProblems = problems.filter(problem => problem.step_id === step.id);
  const problemOf = (name: string, severity: Problem['severity']) =>
    stepProblems.find(problem => problem.severity === severity && fieldOf(problem.path) === name && !isInLoop(problem))
      ?.message;
  const Form = form === undefined || !Object.hasOwn(stepForms, step.type) ? undefined : stepForms[step.type];
  const { fields, more } = formOf(step, form, { inLoop: props.loop.length > 0, hasOwnForm: Form !== undefined });
  const shown = new Set([...fields, ...more].map(({ name }) => name));
  const setAll = (values: Readonly<Record<string, Json | undefined>>) => {
    const names = Object.keys(values);
    const set = Object.fromEntries(
      Object.entries(values).filter((entry): entry is [string, Json] => entry[1] !== undefined),
    );
    const unset = names.filter(name => values[name] === undefined);
    change(store, [{ type: 'update_step', step: step.id, set, unset }], `${step.id}.${names.join()}`);
  };
  const set = (name: string, value: Json | undefined) => setAll({ [name]: value });
  const draw = (field: StepField) => (
    <div key={field.name} className="flex flex-col gap-1">
      <SchemaField
        workflowId={props.workflowId}
        id={[...props.loop, step.id, field.name].join('.')}
        field={field}
        step={step}
        value={Object.hasOwn(step, field.name) ? step[field.name] : undefined}
        onChange={value => set(field.name, value)}
        problem={problemOf(field.name, 'error')}
        readOnly={!editable}
        unfinished={unfinished}
        onOpenLoop={props.onOpenLoop}
      />
      <Warning message={problemOf(field.name, 'warning')} />
      {field.name === 'steps' ? <InnerProblems loop={step} problems={stepProblems.filter(isInLoop)} /> : null}
    </div>
  );
  const elsewhere = stepProblems.filter(problem => !shown.has(fieldOf(problem.path)));
  const folded = stepProblems.filter(problem => more.some(({ name }) => name === fieldOf(problem.path)));
  return (
    <div className="flex flex-col gap-4 p-4">
      <StepHeader {...props} />
      {stepsOfLoop(step) === null ? null : (
        <Button size="sm" icon={<Repeat aria-hidden className="size-3.5" />} onClick={() => props.onOpenLoop(step.id)}>
          {editable ? 'Edit steps' : 'Show steps'}
        </Button>
      )}
      {form?.unavailable ? <p className="text-xs text-warn">{form.unavailable}</p> : null}
      {elsewhere.map(problem =>
        problem.severity === 'warning' ? (
          <Warning key={`${problem.path}:${problem.code}`} message={problem.message} />
        ) : (
          <p key={`${problem.path}:${problem.code}`} role="alert" className="text-xs wrap-anywhere text-bad">
            {problem.message}
          </p>
        ),
      )}
      <Field label="Name">
        <Input
          ref={first}
          value={typeof step.name === 'string' ? step.name : ''}
          maxLength={200}
          placeholder={step.id}
          readOnly={!editable}
          onChange={event => set('name', event.target.value === '' ? undefined : event.target.value)}
        />
      </Field>
      {Form === undefined ? (
        fields.map(draw)
      ) : (
        <Form
          {...props}
          fields={fields}
          readOnly={!editable}
          draw={name => fields.filter(field => field.name === name).map(draw)}
          set={setAll}
          problemOf={problemOf}
        />
      )}
      <Connections {...props} />
      <More
        setCount={more.filter(({ name, required }) => !required && Object.hasOwn(step, name)).length}
        problems={folded.length}
        renamed={renamed.current === step.id}
      >
        {more.map(draw)}
        <StepId {...props} />
      </More>
      <StepHelp type={step.type} />
      {languagesOf(step.type).map(language => (
        <LanguageReference key={language} language={language} />
      ))}
    </div>
  );
}

type MoreProps = { setCount: number; problems: number; renamed: boolean; children: ReactNode };

/** The rarely needed fields, initially collapsed. They expand if one of them has a problem. */
function More({ setCount, problems, renamed, children }: MoreProps) {
  const [open, setOpen] = useState(renamed || problems > 0);
  const [known, setKnown] = useState(problems);
  if (problems !== known) {
    setKnown(problems);
    if (problems > known) setOpen(true);
  }
  return (
    <details open={open} onToggle={event => setOpen(event.currentTarget.open)} className="border-t pt-3">
      <summary className="text-sm font-medium">
        More {setCount === 0 ? null : <span className="font-normal text-muted">· {setCount} set</span>}
      </summary>
      <div className="mt-3 flex flex-col gap-4">{children}</div>
    </details>
  );
}

/** A problem that does not prevent publishing. */
function Warning({ message }: { message: string | undefined }) {
  if (message === undefined) return null;
  return (
    <p className="flex items-start gap-1.5 text-xs text-warn">
      <TriangleAlert role="img" aria-label="Warning" className="mt-0.5 size-3.5 shrink-0" />
      <span className="min-w-0 wrap-anywhere">{message}</span>
    </p>
  );
}

/** Returns the ref of a form's first field, which takes the focus on request. */
function useFocusOf(step: string, { focus, onFocused }: Editor): RefObject<HTMLInputElement | null> {
  const field = useRef<HTMLInputElement>(null);
  const needsFocus = focus?.keyboard === 'form' && focus.step === step;
  useEffect(() => {
    if (!needsFocus) return;
    field.current?.focus();
    onFocused();
  }, [needsFocus, onFocused]);
  return field;
}

/** Returns the field at the start of a problem path: `tool_args.url` → `tool_args`. */
const fieldOf = (path: string) => /^[^.[]*/.exec(path)?.[0] ?? '';
