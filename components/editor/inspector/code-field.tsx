'use client';
import { useId, useRef, useState } from 'react';
import type { Json, Step } from '../../../server/domains/workflows/edits/index.ts';
import { LabelRow } from '../../ui/field.tsx';
import { placeProblem } from '../code/field-problem.ts';
import type { CodeLanguage } from '../code/languages.ts';
import { useCompletion } from '../code/use-completion.tsx';
import type { CodeHandle } from '../code-editor.tsx';
import { FullScreenCode } from '../full-screen-code.tsx';
import { LazyCodeEditor } from '../lazy-code-editor.tsx';
import { fieldText, JSON_KINDS, readFieldText, type StepField } from '../step-fields.ts';
import { useValuePicker } from '../values/value-button.tsx';
import { ValuePreview } from '../values/value-preview.tsx';
import { explained } from './field-help.tsx';
import type { UnfinishedFields } from './unfinished-fields.ts';

export type SchemaFieldProps = {
  field: StepField;
  /** The edited workflow. */
  workflowId: string;
  /** The step that the field belongs to. */
  step: Step;
  value: Json | undefined;
  /** undefined: the field is left out of the step. */
  onChange: (value: Json | undefined) => void;
  /** The problem that the server found in the value. */
  problem: string | undefined;
  readOnly: boolean;
  unfinished: UnfinishedFields;
  /** The key under which unfinished text is kept. */
  id: string;
};

/** Parses typed text. While the text does not parse, keeps the text and leaves the step unchanged. */
export function useTyped({ field, value, onChange, unfinished, id, problem }: SchemaFieldProps) {
  const [text, setText] = useState(() => unfinished.get(id) ?? fieldText(field.kind, value));
  const read = readFieldText(field, text);
  // The value was changed by Undo, or elsewhere.
  const isStale = 'value' in read && fieldText(field.kind, read.value) !== fieldText(field.kind, value);
  const shown = isStale && !unfinished.has(id) ? fieldText(field.kind, value) : text;
  const type = (next: string) => {
    setText(next);
    const result = readFieldText(field, next);
    if ('problem' in result) unfinished.set(id, next);
    else {
      unfinished.delete(id);
      onChange(result.value);
    }
  };
  const shownResult = readFieldText(field, shown);
  return { text: shown, type, error: 'problem' in shownResult ? `Not saved yet: ${shownResult.problem}` : problem };
}

/** A code editor for a field with any JSON. */
export function JsonField(props: SchemaFieldProps) {
  const { text, type, error } = useTyped(props);
  return <CodeField {...props} text={text} problem={error} onChange={next => type(String(next ?? ''))} keepsEmpty />;
}

/** A code editor for a field with code or a long text. */
export function CodeField(props: SchemaFieldProps & { text: string; keepsEmpty?: boolean }) {
  const { field, step, onChange, keepsEmpty = false } = props;
  const { kind, label, hint, required } = field;
  return (
    <CodeArea
      {...props}
      label={label}
      hint={hint}
      required={required}
      isLoop={step.type === 'for_each' && field.name === 'steps'}
      language={kind === 'lua' || kind === 'cel' ? kind : JSON_KINDS.has(kind) ? 'json' : 'text'}
      onChange={next => onChange(next === '' && !required && !keepsEmpty ? undefined : next)}
    />
  );
}

type CodeAreaProps = {
  label: string;
  hint: string | undefined;
  required: boolean;
  /** The step that contains the field. Completion suggests the values of its earlier steps. */
  step: Step;
  /** Whether the text contains the steps of the loop `step`. */
  isLoop?: boolean;
  language: CodeLanguage;
  text: string;
  onChange: (text: string) => void;
  problem?: string | undefined;
  readOnly: boolean;
};

/**
 * A labeled code editor. Its accessible name is an attribute of the editor, because a label cannot refer to
 * CodeMirror's element.
 */
export function CodeArea(props: CodeAreaProps) {
  const { label, hint, required, step, isLoop = false, language, text, onChange, problem, readOnly } = props;
  const id = useId();
  const completion = useCompletion(step.id, isLoop);
  const handle = useRef<CodeHandle>(null);
  const { button, around } = useValuePicker({
    label,
    step: step.id,
    language,
    // The steps of a loop read other values than the loop itself.
    readOnly: readOnly || isLoop,
    onPick: path => handle.current?.insert(path),
    onCancel: () => handle.current?.focus(),
  });
  const { hint: short, help } = explained(hint, label);
  const editor = {
    label,
    language,
    value: text,
    readOnly,
    invalid: problem !== undefined,
    problem,
    completion,
    onChange,
  };
  return (
    <div className="flex flex-col gap-1" {...around}>
      <div className="flex min-h-7 items-center justify-between gap-2">
        <LabelRow required={required} help={help?.(`${id}-help`)}>
          <p className="text-sm font-medium">{label}</p>
        </LabelRow>
        <span className="flex items-center">
          {button}
          <FullScreenCode {...editor} />
        </span>
      </div>
      <LazyCodeEditor {...editor} describedBy={help ? `${id}-help ${id}-hint` : `${id}-hint`} handle={handle} />
      {isLoop ? null : <ValuePreview step={step.id} text={text} language={language} />}
      <div id={`${id}-hint`} className="text-xs">
        {short ? <p className="text-muted">{short}</p> : null}
        {problem ? (
          <p role="alert" className="wrap-anywhere text-bad">
            <PlacedMessage text={text} message={problem} />
          </p>
        ) : null}
      </div>
    </div>
  );
}

/** The message of a problem, with its line number if the text has several lines. */
function PlacedMessage({ text, message }: { text: string; message: string }) {
  const placed = text.includes('\n') ? placeProblem(text, message) : null;
  return placed ? `Line ${placed.line}: ${placed.message}` : message;
}
