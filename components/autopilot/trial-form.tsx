'use client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { FlaskConical, Plus, X } from 'lucide-react';
import { type FormEvent, useState } from 'react';
import type { StepChange } from '../../server/domains/workflows/edits/index.ts';
import { useTRPC } from '../trpc/provider.tsx';
import { Button, IconButton } from '../ui/button.tsx';
import { Field, Input, Textarea } from '../ui/field.tsx';
import { Select } from '../ui/select.tsx';
import { FormError } from '../ui/states.tsx';
import { parseInput } from '../workflows/run-input.ts';
import {
  type CheckOp,
  type CheckText,
  firstChecks,
  opLabels,
  type Proposal,
  readCheck,
  takesPath,
  takesValue,
} from './proposal.ts';

const MAX_CHECKS = 50;
const operators = (Object.keys(opLabels) as CheckOp[]).map(value => ({ value, label: opLabels[value] }));

type Props = { proposal: Proposal; changes: readonly StepChange[]; onClose: () => void };

/** Asks what a trial has to show, and for its input, and starts it. */
export function TrialForm({ proposal, changes, onClose }: Props) {
  const trpc = useTRPC();
  const queries = useQueryClient();
  const { id, draft } = proposal;
  const steps = draft.graph.steps.map(step => step.id);
  const [checks, setChecks] = useState(() => firstOf(changes, steps));
  const [input, setInput] = useState(() => JSON.stringify(draft.run_setup.trigger_payload ?? {}, null, 2));
  const parsed = parseInput(input);
  const start = useMutation(
    trpc.autopilot_try_proposal.mutationOptions({
      onSuccess: trial => {
        queries.setQueryData(trpc.autopilot_get_trial.queryKey({ id }), trial);
        onClose();
      },
    }),
  );
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if ('input' in parsed) start.mutate({ id, checks: checks.map(readCheck), input: parsed.input });
  };
  const set = (index: number, change: Partial<CheckText>) =>
    setChecks(checks.map((check, at) => (at === index ? { ...check, ...change } : check)));
  return (
    <form aria-label="Try the proposal" className="flex flex-col gap-3 rounded-md border p-3" onSubmit={submit}>
      <FormError error={start.error} />
      <p className="text-xs text-muted">
        Scripts, conditions, models and tools that only read are executed; what a model costs is charged. The service
        judges the checks.
      </p>
      {checks.map((check, index) => (
        <CheckFields
          // biome-ignore lint/suspicious/noArrayIndexKey: a check is its place
          key={index}
          number={index + 1}
          check={check}
          steps={steps}
          onChange={change => set(index, change)}
          onRemove={checks.length > 1 ? () => setChecks(checks.filter((_, at) => at !== index)) : undefined}
        />
      ))}
      <Button
        size="sm"
        className="self-start"
        icon={<Plus aria-hidden className="size-3.5" />}
        disabled={checks.length >= MAX_CHECKS}
        onClick={() => setChecks([...checks, { step: steps.at(-1) ?? '', path: '', op: 'equals', value: '' }])}
      >
        Add a check
      </Button>
      <Field label="Input of the run" error={'problem' in parsed ? parsed.problem : null}>
        <Textarea
          rows={3}
          className="font-mono text-xs"
          spellCheck={false}
          value={input}
          onChange={event => setInput(event.target.value)}
        />
      </Field>
      <div className="flex justify-end gap-2">
        <Button size="sm" onClick={onClose}>
          Cancel
        </Button>
        <Button
          size="sm"
          type="submit"
          variant="primary"
          icon={<FlaskConical aria-hidden className="size-3.5" />}
          pending={start.isPending}
          disabled={'problem' in parsed}
        >
          Start the trial
        </Button>
      </div>
    </form>
  );
}

function firstOf(changes: readonly StepChange[], steps: readonly string[]): CheckText[] {
  const first = firstChecks(changes, MAX_CHECKS);
  return first.length > 0 ? first : [{ step: steps[0] ?? '', path: '', op: 'completed', value: '' }];
}

type CheckProps = {
  number: number;
  check: CheckText;
  steps: readonly string[];
  onChange: (change: Partial<CheckText>) => void;
  onRemove: (() => void) | undefined;
};

function CheckFields({ number, check, steps, onChange, onRemove }: CheckProps) {
  const { step, path, op, value } = check;
  return (
    <fieldset className="grid grid-cols-2 gap-2 border-b pb-3">
      <legend className="sr-only">Check {number}</legend>
      <Select
        size="sm"
        label={`Step of check ${number}`}
        value={step}
        options={steps.map(id => ({ value: id, label: id }))}
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
          aria-label={`Place in the result, check ${number}`}
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
