'use client';
import { Plus, X } from 'lucide-react';
import { use } from 'react';
import { StepNames } from '../../../runs/step-names.tsx';
import { Button, IconButton } from '../../../ui/button.tsx';
import { Input } from '../../../ui/field.tsx';
import { Select } from '../../../ui/select.tsx';
import { type CheckOp, type CheckText, MAX_CHECKS, opLabels, takesPath, takesValue } from '../proposal.ts';

const operators = (Object.keys(opLabels) as CheckOp[]).map(value => ({ value, label: opLabels[value] }));

type Props = {
  checks: readonly CheckText[];
  /** The steps that can be checked. */
  steps: readonly string[];
  onChange: (checks: readonly CheckText[]) => void;
};

/** Edits the checks of a trial. At least one is required. */
export function CheckFields({ checks, steps, onChange }: Props) {
  return (
    <>
      <h4 className="text-sm font-medium">Expected results</h4>
      {checks.map((check, index) => (
        <CheckRow
          // biome-ignore lint/suspicious/noArrayIndexKey: a check is identified by its position
          key={index}
          number={index + 1}
          check={check}
          steps={steps}
          onChange={change => onChange(checks.map((each, at) => (at === index ? { ...each, ...change } : each)))}
          onRemove={checks.length > 1 ? () => onChange(checks.filter((_, at) => at !== index)) : undefined}
        />
      ))}
      <Button
        size="sm"
        className="self-start"
        icon={<Plus aria-hidden className="size-3.5" />}
        disabled={checks.length >= MAX_CHECKS}
        onClick={() => onChange([...checks, { step: steps.at(-1) ?? '', path: '', op: 'equals', value: '' }])}
      >
        Add a check
      </Button>
    </>
  );
}

type RowProps = {
  number: number;
  check: CheckText;
  steps: readonly string[];
  onChange: (change: Partial<CheckText>) => void;
  onRemove: (() => void) | undefined;
};

function CheckRow({ number, check, steps, onChange, onRemove }: RowProps) {
  const called = use(StepNames);
  const { step, path, op, value } = check;
  return (
    <fieldset className="grid grid-cols-2 gap-2 border-b pb-3">
      <legend className="sr-only">Check {number}</legend>
      <Select
        size="sm"
        label={`Step of check ${number}`}
        value={step}
        options={steps.map(id => ({ value: id, label: called(id) }))}
        onChange={next => onChange({ step: next })}
      />
      <div className="flex min-w-0 items-center gap-1">
        <Select
          size="sm"
          className="min-w-0 flex-1"
          label={`Comparison of check ${number}`}
          value={op}
          options={operators}
          onChange={next => onChange({ op: next })}
        />
        {onRemove === undefined ? null : (
          <IconButton label={`Remove check ${number}`} size="sm" onClick={onRemove}>
            <X aria-hidden className="size-3.5" />
          </IconButton>
        )}
      </div>
      {takesPath(op) ? (
        <Input
          aria-label={`Path in the result, check ${number}`}
          placeholder="whole result"
          className={`min-w-0 font-mono text-xs ${takesValue(op) ? '' : 'col-span-2'}`}
          value={path}
          onChange={event => onChange({ path: event.target.value })}
        />
      ) : null}
      {takesValue(op) ? (
        <Input
          aria-label={`Value of check ${number}`}
          placeholder="value"
          className="min-w-0 font-mono text-xs"
          value={value}
          onChange={event => onChange({ value: event.target.value })}
        />
      ) : null}
    </fieldset>
  );
}
