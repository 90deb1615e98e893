'use client';
import { Ban, Copy, MousePointerClick, Plus, Repeat, Trash2, TriangleAlert } from 'lucide-react';
import { type RefObject, useEffect, useRef, useState } from 'react';
import { languagesOf } from '@/server/orchestrator/steps/language-help.ts';
import type { Json, Step } from '../../../server/domains/workflows/edits/index.ts';
import { StepTile, stepTypeLook } from '../../graph/step-icon.tsx';
import { Button, IconButton } from '../../ui/button.tsx';
import { Field, Input } from '../../ui/field.tsx';
import { LazyMarkdown } from '../../ui/lazy-markdown.tsx';
import { EmptyState } from '../../ui/states.tsx';
import type { Place } from '../editor-actions.ts';
import { isInLoop } from '../loop-problems.ts';
import { type StepsStore, stepsOfLoop } from '../loop-store.ts';
import { NoteForm } from '../notes/note-form.tsx';
import { fieldsOf, labelOf, type StepField, type StepTypeForm } from '../step-fields.ts';
import type { Problem } from '../use-draft.ts';
import { change, type Editor } from '../use-editor.ts';
import { Connections } from './connections.tsx';
import { InnerProblems } from './inner-problems.tsx';
import { LanguageReference } from './language-help.tsx';
import { SchemaField } from './schema-field.tsx';
import { stepForms } from './step-forms.ts';
import { StepHelp } from './step-help.tsx';
import type { UnfinishedFields } from './unfinished-fields.ts';
import { WorkflowFields } from './workflow-fields.tsx';

export type InspectorProps = {
  workflowId: string;
  /** The loops around the steps that are edited, the outermost first. */
  loop: readonly string[];
  store: StepsStore;
  editor: Editor;
  types: readonly StepTypeForm[];
  problems: readonly Problem[];
  editable: boolean;
  unfinished: UnfinishedFields;
  onAdd: (place: Place) => void;
  /** Shows the steps of a loop. */
  onOpenLoop: (loop: string) => void;
};

/** The selected step or note as a form. */
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

type StepProps = InspectorProps & {
  step: Step;
  /** The ID that the user confirmed with Enter: its field keeps the focus, although the form is another one by then. */
  renamed: RefObject<string | null>;
};

function StepForm(props: StepProps) {
  const { store, editor, step, types, problems, editable, unfinished } = props;
  const first = useFocusOf(step.id, editor);
  const form = types.find(({ type }) => type === step.type);
  const own = problems.filter(problem => problem.step_id === step.id);
  const of = (name: string, severity: Problem['severity']) =>
    own.find(problem => problem.severity === severity && fieldOf(problem.path) === name && !isInLoop(problem))?.message;
  const { fields, more } = formOf(step, form, props.loop.length > 0);
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
        problem={of(field.name, 'error')}
        readOnly={!editable}
        unfinished={unfinished}
      />
      <Warning message={of(field.name, 'warning')} />
      {field.name === 'steps' ? <InnerProblems loop={step} problems={own.filter(isInLoop)} /> : null}
    </div>
  );
  const Form = form === undefined || !Object.hasOwn(stepForms, step.type) ? undefined : stepForms[step.type];
  const elsewhere = own.filter(problem => !shown.has(fieldOf(problem.path)));
  const open = own.some(problem => more.some(({ name }) => name === fieldOf(problem.path)));
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
      <Field label="Name" optional hint="If empty, the ID is shown.">
        <Input
          ref={first}
          value={typeof step.name === 'string' ? step.name : ''}
          maxLength={200}
          readOnly={!editable}
          onChange={event => set('name', event.target.value === '' ? undefined : event.target.value)}
        />
      </Field>
      <StepId {...props} />
      {Form === undefined ? (
        fields.map(draw)
      ) : (
        <Form
          {...props}
          fields={fields}
          readOnly={!editable}
          draw={name => fields.filter(field => field.name === name).map(draw)}
          set={setAll}
          problemOf={of}
        />
      )}
      <Connections {...props} />
      <details open={open || undefined} className="border-t pt-3">
        <summary className="text-sm font-medium">Settings</summary>
        <div className="mt-3 flex flex-col gap-4">{more.map(draw)}</div>
      </details>
      <StepHelp type={step.type} />
      {languagesOf(step.type).map(language => (
        <LanguageReference key={language} language={language} />
      ))}
    </div>
  );
}

/** A problem that does not keep the draft from being published. */
function Warning({ message }: { message: string | undefined }) {
  if (message === undefined) return null;
  return (
    <p className="flex items-start gap-1.5 text-xs text-warn">
      <TriangleAlert role="img" aria-label="Warning" className="mt-0.5 size-3.5 shrink-0" />
      <span className="min-w-0 wrap-anywhere">{message}</span>
    </p>
  );
}

/** Returns the ref of a form's first field, which takes the keyboard when that is asked for. */
function useFocusOf(step: string, { focus, onFocused }: Editor): RefObject<HTMLInputElement | null> {
  const field = useRef<HTMLInputElement>(null);
  const wanted = focus?.keyboard === 'form' && focus.step === step;
  useEffect(() => {
    if (!wanted) return;
    field.current?.focus();
    onFocused();
  }, [wanted, onFocused]);
  return field;
}

function StepHeader({ step, editor, editable, onAdd }: StepProps) {
  const { label } = stepTypeLook(step.type);
  return (
    <div className="flex items-center gap-2">
      <StepTile type={step.type} struck={step.disabled === true} />
      <h2 className="min-w-0 flex-1 truncate text-base font-semibold">{label}</h2>
      {editable ? (
        <>
          <IconButton label="Add a step after this one" size="sm" onClick={() => onAdd(editor.placeAfter(step.id))}>
            <Plus aria-hidden className="size-4" />
          </IconButton>
          <IconButton label="Duplicate" shortcut="⌘ D" size="sm" onClick={editor.duplicateSelected}>
            <Copy aria-hidden className="size-4" />
          </IconButton>
          <IconButton label="Delete" shortcut="⌫" size="sm" onClick={editor.removeSelected}>
            <Trash2 aria-hidden className="size-4" />
          </IconButton>
        </>
      ) : null}
    </div>
  );
}

/** The id of a step. Renaming it renames what refers to it, so it is done at once, when the field is left. */
function StepId({ store, editor, step, editable, renamed }: StepProps) {
  const [text, setText] = useState(step.id);
  const [problem, setProblem] = useState<string | null>(null);
  const rename = () => {
    const to = text.trim();
    if (to === step.id) return;
    if (change(store, [{ type: 'rename_step', step: step.id, to }])) editor.show([to], 'stays');
    else setProblem('This ID cannot be used. The step keeps its old one.');
  };
  return (
    <Field label="ID" hint="How other steps refer to this one: steps.<ID>.result" error={problem}>
      <Input
        value={text}
        maxLength={64}
        spellCheck={false}
        readOnly={!editable}
        className="font-mono"
        onChange={event => {
          setText(event.target.value);
          setProblem(null);
        }}
        autoFocus={renamed.current === step.id}
        onBlur={() => {
          renamed.current = null;
          rename();
        }}
        onKeyDown={event => {
          if (event.key !== 'Enter') return;
          renamed.current = text.trim();
          rename();
        }}
      />
    </Field>
  );
}

/** The field that a problem's path begins with: `tool_args.url` → `tool_args`. */
const fieldOf = (path: string) => /^[^.[]*/.exec(path)?.[0] ?? '';

const setting = (name: string, kind: StepField['kind'], hint: string, integer = false): StepField => ({
  name,
  label: labelOf(name),
  kind,
  required: false,
  hint,
  choices: [],
  integer,
});

/** The fields of a step's form: those of its type, fields that no type declares, and the settings that every step has. */
function formOf(
  step: Step,
  form: StepTypeForm | undefined,
  inLoop: boolean,
): { fields: StepField[]; more: StepField[] } {
  const timeout = form?.defaultTimeoutS ?? null;
  const settings = [
    setting(
      'timeout_s',
      'number',
      timeout === null ? 'Seconds. Default: none.' : `Seconds. Default: ${timeout}.`,
      true,
    ),
    ...(form === undefined || form.retries
      ? [
          setting('retry_count', 'number', 'How often a failed step is tried again. Default: 0.', true),
          setting('retry_delay_s', 'number', 'Seconds before the first retry, doubled at each. Default: 1.'),
        ]
      : []),
    {
      ...setting('on_error', 'choice', 'fail (default): the run fails too. continue: the steps after it run.'),
      choices: ['fail', 'continue'],
    },
    setting('disabled', 'flag', 'The step is skipped, and the steps after it run.'),
    // A start cannot name a step of a loop.
    ...(inLoop
      ? []
      : [
          setting('gated', 'flag', 'The step is skipped unless a start names it.'),
          setting('overridable', 'list', 'The fields that a start may change for its run'),
        ]),
  ];
  if (form === undefined) {
    const known = new Set([
      'id',
      'type',
      'name',
      'depends_on',
      'then',
      'else',
      'position',
      ...settings.map(s => s.name),
    ]);
    const others = Object.keys(step).filter(name => !known.has(name));
    return { fields: others.map(name => setting(name, 'json', 'JSON')), more: settings };
  }
  return { fields: fieldsOf(form), more: settings };
}
