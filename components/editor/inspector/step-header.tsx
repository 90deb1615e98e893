'use client';
import { Copy, Plus, Trash2 } from 'lucide-react';
import { type RefObject, useState } from 'react';
import type { Step } from '../../../server/domains/workflows/edits/index.ts';
import { StepTile, stepTypeLook } from '../../graph/step-icon.tsx';
import { IconButton } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copy.tsx';
import { Field, Input } from '../../ui/field.tsx';
import { change } from '../change.ts';
import { explained } from './field-help.tsx';
import type { InspectorProps } from './inspector.tsx';

export type StepProps = InspectorProps & {
  step: Step;
  /** The ID that the user confirmed with Enter. The new form focuses its field. */
  renamed: RefObject<string | null>;
};

/** The type of the step, and the actions on the step. */
export function StepHeader({ step, editor, editable, onAdd }: StepProps) {
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

/** The id of a step. A rename also renames all references to the step, so it is applied only when the field loses the focus. */
export function StepId({ store, editor, step, editable, renamed }: StepProps) {
  const [text, setText] = useState(step.id);
  const [problem, setProblem] = useState<string | null>(null);
  const rename = () => {
    const to = text.trim();
    if (to === step.id) return;
    if (change(store, [{ type: 'rename_step', step: step.id, to }])) editor.show([to], 'stays');
    else setProblem('This ID cannot be used. The step keeps its old one.');
  };
  return (
    <Field
      label="Step ID"
      {...explained(
        `Templates and expressions read steps.${step.id}.result. If you rename it, they follow.`,
        'Step ID',
      )}
      error={problem}
    >
      <div className="flex items-center gap-1">
        <Input
          value={text}
          maxLength={64}
          spellCheck={false}
          readOnly={!editable}
          className="min-w-0 flex-1 font-mono"
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
        <CopyButton text={step.id} label="Copy step ID" />
      </div>
    </Field>
  );
}
