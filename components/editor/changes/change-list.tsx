'use client';
import { type ReactNode, useMemo } from 'react';
import type { DraftDiff, FieldChange, StepChange } from '../../../server/domains/workflows/edits/index.ts';
import { cx } from '../../ui/classes.ts';
import { StatusBadge } from '../../ui/status-badge.tsx';
import { labelOf } from '../step-fields.ts';
import { changedLines, fieldsOfStep, valueText, withoutMoves } from './describe-changes.ts';

type Props = {
  diff: DraftDiff;
  /** Returns what is shown before the change of a step, such as a checkbox to choose it. */
  before?: (step: string) => ReactNode;
  /** The step whose change is marked. */
  selected?: string;
  /** Whether steps that were added or removed show their fields, too. */
  whole?: boolean;
  /** Called where a person asks for a step on the graph. */
  onShow?: (step: string) => void;
};

/** Shows the differences between two states of a workflow, step by step and field by field. */
export function ChangeList({ diff, ...shown }: Props) {
  const { steps, moved } = useMemo(() => withoutMoves(diff.steps), [diff]);
  const others = [
    moved > 0 ? `${moved === 1 ? '1 step was' : `${moved} steps were`} moved on the canvas.` : null,
    diff.notes.length > 0 ? 'Notes on the canvas changed.' : null,
    diff.reordered ? 'The order of the steps has changed.' : null,
  ].filter(text => text !== null);
  const parts = [
    { title: 'Name and description', fields: diff.details },
    { title: 'The workflow', fields: diff.graph },
    { title: 'Start defaults', fields: diff.run_setup },
  ].filter(({ fields }) => fields.length > 0);
  if (steps.length === 0 && parts.length === 0 && others.length === 0)
    return <p className="text-sm text-muted">No changes.</p>;
  return (
    <div className="flex flex-col gap-2">
      <ul aria-label="Changes" className="flex flex-col gap-2">
        {steps.map(change => (
          <Change key={change.step} change={change} {...shown} />
        ))}
        {parts.map(({ title, fields }) => (
          <li key={title} className="rounded-md border p-2">
            <p className="text-sm font-medium">{title}</p>
            <Fields fields={fields} />
          </li>
        ))}
      </ul>
      {others.map(text => (
        <p key={text} className="text-xs text-muted">
          {text}
        </p>
      ))}
    </div>
  );
}

function Change({ change, before, selected, whole = false, onShow }: Omit<Props, 'diff'> & { change: StepChange }) {
  const { step } = change;
  return (
    <li className={cx('rounded-md border p-2', step === selected && 'border-accent')}>
      <div className="flex flex-wrap items-center gap-2 text-sm">
        {before?.(step)}
        <StatusBadge kind="step" status={change.change} />
        {onShow === undefined ? (
          <code className="font-medium wrap-anywhere">{step}</code>
        ) : (
          <button
            type="button"
            title="Show it on the graph"
            className="font-mono font-medium wrap-anywhere hover:underline"
            onClick={() => onShow(step)}
          >
            {step}
          </button>
        )}
      </div>
      {change.change === 'changed' ? (
        <Fields fields={change.fields} />
      ) : whole ? (
        <details className="mt-1" open={change.change === 'added'}>
          <summary className="cursor-default text-xs text-muted">Fields</summary>
          <Fields fields={fieldsOfStep(change)} />
        </details>
      ) : null}
    </li>
  );
}

function Fields({ fields }: { fields: readonly FieldChange[] }) {
  return (
    <dl className="mt-1 flex flex-col gap-1">
      {fields.map(({ field, before, after }) => (
        <div key={field}>
          <dt className="text-xs text-muted">{labelOf(field)}</dt>
          <dd className="overflow-hidden rounded-sm border bg-sunken font-mono text-xs">
            {changedLines(valueText(before), valueText(after)).map(line => (
              <p
                key={`${line.kind}:${line.at}`}
                className={cx('px-2 wrap-anywhere whitespace-pre-wrap', line.kind === 'added' ? 'text-ok' : 'text-bad')}
              >
                <span className="sr-only">{line.kind === 'added' ? 'Added: ' : 'Removed: '}</span>
                <span aria-hidden>{line.kind === 'added' ? '+ ' : '− '}</span>
                {line.text}
              </p>
            ))}
          </dd>
        </div>
      ))}
    </dl>
  );
}
