'use client';
import { useMemo } from 'react';
import type { DraftDiff, FieldChange, StepChange } from '../../../server/domains/workflows/edits/index.ts';
import { cx } from '../../ui/classes.ts';
import { StatusBadge } from '../../ui/status-badge.tsx';
import { labelOf } from '../step-fields.ts';
import { changedLines, valueText, withoutMoves } from './describe-changes.ts';

/** What differs between two states of a workflow, step by step and field by field. */
export function ChangeList({ diff }: { diff: DraftDiff }) {
  const { steps, moved } = useMemo(() => withoutMoves(diff.steps), [diff]);
  const others = [
    moved > 0 ? `${moved === 1 ? '1 step was' : `${moved} steps were`} moved on the canvas.` : null,
    diff.notes.length > 0 ? 'The notes on the canvas have changed.' : null,
    diff.reordered ? 'The steps stand in another order.' : null,
  ].filter(text => text !== null);
  if (steps.length === 0 && diff.graph.length === 0 && diff.run_setup.length === 0 && others.length === 0)
    return <p className="text-sm text-muted">Nothing has changed.</p>;
  return (
    <div className="flex flex-col gap-2">
      <ul aria-label="Changes" className="flex flex-col gap-2">
        {steps.map(change => (
          <Change key={change.step} change={change} />
        ))}
        {diff.graph.length > 0 ? (
          <li className="rounded-md border p-2">
            <p className="text-sm font-medium">The workflow</p>
            <Fields fields={diff.graph} />
          </li>
        ) : null}
        {diff.run_setup.length > 0 ? (
          <li className="rounded-md border p-2">
            <p className="text-sm font-medium">Defaults of a start</p>
            <Fields fields={diff.run_setup} />
          </li>
        ) : null}
      </ul>
      {others.map(text => (
        <p key={text} className="text-xs text-muted">
          {text}
        </p>
      ))}
    </div>
  );
}

function Change({ change }: { change: StepChange }) {
  return (
    <li className="rounded-md border p-2">
      <p className="flex flex-wrap items-center gap-2 text-sm">
        <StatusBadge kind="step" status={change.change} />
        <code className="font-medium">{change.step}</code>
      </p>
      {change.change === 'changed' ? <Fields fields={change.fields} /> : null}
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
