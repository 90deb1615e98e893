'use client';
import { type ReactNode, useMemo, useState } from 'react';
import type { DraftDiff, FieldChange, StepChange } from '../../../server/domains/workflows/edits/index.ts';
import { StepName, stepNames } from '../../runs/step-names.tsx';
import { Checkbox } from '../../ui/checkbox.tsx';
import { cx } from '../../ui/classes.ts';
import { StatusBadge } from '../../ui/status-badge.tsx';
import { labelOf } from '../step-fields.ts';
import { changedLines, fieldsOfStep, valueText, withoutMoves } from './describe-changes.ts';
import { nameWithLoops } from './inner-changes.ts';
import { hasIds, type Names, partsWithNames, withStepNames } from './object-names.ts';
import { useObjectNames } from './use-object-names.ts';

const NO_NAMES: Names = new Map();

type Props = {
  diff: DraftDiff;
  /** Returns the element before the change of a step, such as a checkbox. */
  before?: (step: string) => ReactNode;
  /** The step whose change is marked. */
  selected?: string;
  /** Returns the display name of a step. Default: its id. */
  called?: (id: string) => string;
  /** Whether added and removed steps also show their fields. */
  whole?: boolean;
  /** Called when the user wants to see a step on the graph. */
  onShow?: (step: string) => void;
};

/** Shows the differences between two states of a workflow, by step and field. */
export function ChangeList({ diff, called = id => id, ...others }: Props) {
  const [ids, setIds] = useState(false);
  const names = useObjectNames(hasIds(diff));
  const shown = { ...others, called: ids ? (id: string) => id : called, names: ids ? NO_NAMES : names };
  const { steps, moved } = useMemo(() => withoutMoves(diff.steps), [diff]);
  const rest = [
    moved > 0 ? `${moved === 1 ? '1 step was' : `${moved} steps were`} moved on the canvas.` : null,
    diff.notes.length > 0 ? 'Notes on the canvas changed.' : null,
    diff.reordered ? 'The order of the steps has changed.' : null,
  ].filter(text => text !== null);
  const parts = [
    { title: 'Name and description', fields: diff.details },
    { title: 'The workflow', fields: diff.graph },
    { title: 'Start defaults', fields: diff.run_setup },
  ].filter(({ fields }) => fields.length > 0);
  if (steps.length === 0 && parts.length === 0 && rest.length === 0)
    return <p className="text-sm text-muted">No changes.</p>;
  return (
    <div className="flex flex-col gap-2">
      <Checkbox label="Show IDs" checked={ids} onCheckedChange={setIds} />
      <ul aria-label="Changes" className="flex flex-col gap-2">
        {steps.map(change => (
          <Change key={change.step} change={change} {...shown} />
        ))}
        {parts.map(({ title, fields }) => (
          <li key={title} className="rounded-md border p-2">
            <p className="text-sm font-medium">{title}</p>
            <Fields fields={fields} called={shown.called} names={shown.names} />
          </li>
        ))}
      </ul>
      {rest.map(text => (
        <p key={text} className="text-xs text-muted">
          {text}
        </p>
      ))}
    </div>
  );
}

type ChangeProps = Omit<Props, 'diff' | 'called'> & Called & { change: StepChange };

function Change({ change, before, selected, whole = false, onShow, called, names }: ChangeProps) {
  const { step } = change;
  const ownNames = stepNames(
    change.change === 'added' ? [change.after] : change.change === 'removed' ? [change.before] : [],
  );
  const level = step.slice(0, step.lastIndexOf('.') + 1);
  const isNamed = names !== NO_NAMES;
  const name = !isNamed ? step : level === '' ? ownNames(called(step)) : nameWithLoops(step, called);
  // The fields of a step in a loop refer to the steps beside it.
  const calledBeside = (id: string) => (called(level + id) === level + id ? id : called(level + id));
  return (
    <li className={cx('rounded-md border p-2', step === selected && 'border-accent')}>
      <div className="flex flex-wrap items-center gap-2 text-sm">
        {before?.(step)}
        <StatusBadge kind="step" status={change.change} />
        {onShow === undefined ? (
          <span className="font-medium wrap-anywhere">
            <StepName id={step} name={name} />
          </span>
        ) : (
          <button
            type="button"
            title="Show it on the graph"
            className="font-medium wrap-anywhere hover:underline"
            onClick={() => onShow(step)}
          >
            <StepName id={step} name={name} />
          </button>
        )}
      </div>
      {change.change === 'changed' ? (
        <Fields fields={change.fields} called={calledBeside} names={names} />
      ) : whole ? (
        <details className="mt-1" open={change.change === 'added'}>
          <summary className="cursor-default text-xs text-muted">Fields</summary>
          <Fields fields={fieldsOfStep(change)} called={calledBeside} names={names} />
        </details>
      ) : null}
    </li>
  );
}

type Called = { called: (id: string) => string; names: Names };

function Fields({ fields, called, names }: Called & { fields: readonly FieldChange[] }) {
  const textOf = (field: string, value: FieldChange['after']) => valueText(withStepNames(field, value, called));
  return (
    <dl className="mt-1 flex flex-col gap-1">
      {fields.map(({ field, before, after }) => (
        <div key={field}>
          <dt className="text-xs text-muted">{labelOf(field)}</dt>
          <dd className="overflow-hidden rounded-sm border bg-sunken font-mono text-xs">
            {changedLines(textOf(field, before), textOf(field, after)).map(line => (
              <p
                key={`${line.kind}:${line.at}`}
                className={cx('px-2 wrap-anywhere whitespace-pre-wrap', line.kind === 'added' ? 'text-ok' : 'text-bad')}
              >
                <span className="sr-only">{line.kind === 'added' ? 'Added: ' : 'Removed: '}</span>
                <span aria-hidden>{line.kind === 'added' ? '+ ' : '− '}</span>
                {partsWithNames(line.text, names).map(part =>
                  part.id === null ? (
                    part.text
                  ) : (
                    <span key={part.at} title={part.id} className="underline decoration-dotted">
                      {part.text}
                    </span>
                  ),
                )}
              </p>
            ))}
          </dd>
        </div>
      ))}
    </dl>
  );
}
