'use client';
import { useQuery } from '@tanstack/react-query';
import { RotateCw } from 'lucide-react';
import { useEffect, useMemo, useState } from 'react';
import { type Outputs, useTRPC } from '../trpc/provider.tsx';
import { Button } from '../ui/button.tsx';
import { Checkbox } from '../ui/checkbox.tsx';
import { readError } from '../ui/errors.ts';
import { Skeleton } from '../ui/skeleton.tsx';
import { InputFields } from './input-fields.tsx';
import { type Choices, type OpenedStep, openedSteps } from './opened-steps.ts';
import type { InputObject } from './run-input.ts';

type Props = {
  workflow: Pick<Outputs['workflows_get'], 'id' | 'latest_version'>;
  choices: Choices;
  onLoad: (opened: readonly OpenedStep[]) => void;
  onChange: (choices: Choices) => void;
  /** Called with a message while a field's text is invalid, and with null once all are valid. */
  onProblem: (problem: string | null) => void;
};

/**
 * Shows the settings that the author of the latest version opened for its runs: fields of steps, and gated steps to include. Renders
 * nothing if the version has none.
 */
export function StepSettings({ workflow, choices, onLoad, onChange, onProblem }: Props) {
  const trpc = useTRPC();
  const version = useQuery(
    trpc.workflows_get_version.queryOptions(
      { id: workflow.id, version: workflow.latest_version ?? 0 },
      { enabled: workflow.latest_version !== null },
    ),
  );
  const opened = useMemo(() => (version.data ? openedOf(version.data) : null), [version.data]);
  useEffect(() => onLoad(opened ?? []), [opened, onLoad]);
  if (workflow.latest_version === null || opened?.length === 0) return null;
  if (opened !== null) {
    return <OpenedSteps opened={opened} choices={choices} onChange={onChange} onProblem={onProblem} />;
  }
  if (version.error) {
    return (
      <div role="alert" className="flex flex-wrap items-center gap-2 rounded-md border px-3 py-2 text-sm text-muted">
        <span className="min-w-0 flex-1">
          Could not load the settings of the steps: {readError(version.error).message} You can start the run without
          them.
        </span>
        <Button
          icon={<RotateCw aria-hidden className="size-3.5" />}
          pending={version.isFetching}
          onClick={() => void version.refetch()}
        >
          Try again
        </Button>
      </div>
    );
  }
  return <Skeleton className="h-8 w-full" />;
}

function openedOf({ graph_snapshot, run_setup }: Outputs['workflows_get_version']): OpenedStep[] {
  // Other overrides of the run setup do not apply to a run that is started here.
  const saved = run_setup.use_as_default ? (run_setup.trigger_steps ?? {}) : {};
  return openedSteps(graph_snapshot.steps, saved as Record<string, InputObject>);
}

type StepsProps = { opened: readonly OpenedStep[] } & Pick<Props, 'choices' | 'onChange' | 'onProblem'>;

function OpenedSteps({ opened, choices, onChange, onProblem }: StepsProps) {
  const [problems, setProblems] = useState<Record<string, string>>({});
  const reportProblem = (id: string, problem: string | null) => {
    const { [id]: _, ...others } = problems;
    const next = problem === null ? others : { ...others, [id]: problem };
    setProblems(next);
    onProblem(Object.values(next)[0] ?? null);
  };
  const grant = (id: string, isGranted: boolean) => {
    const granted = new Set(choices.granted);
    if (isGranted) granted.add(id);
    else granted.delete(id);
    // The fields of the step are now hidden, so their problems are cleared.
    reportProblem(id, null);
    const { [id]: _, ...values } = choices.values;
    onChange({ granted, values: isGranted ? choices.values : values });
  };
  return (
    <div className="flex flex-col gap-4">
      <div>
        <h3 className="text-sm font-semibold">Steps</h3>
        <p className="text-xs text-muted">Changes apply to this run only.</p>
      </div>
      {opened.map(step => {
        const isShown = !step.isGated || choices.granted.has(step.id);
        return (
          <fieldset key={step.id} className="min-w-0 rounded-md border p-3">
            <legend className="max-w-full truncate px-1 text-sm font-medium">{step.title}</legend>
            <div className="flex flex-col gap-3">
              {step.isGated ? (
                <Checkbox
                  label={`Run “${step.title}”`}
                  checked={choices.granted.has(step.id)}
                  onCheckedChange={isGranted => grant(step.id, isGranted)}
                />
              ) : null}
              {isShown && step.fields.length > 0 ? (
                <InputFields
                  fields={step.fields}
                  value={choices.values[step.id] ?? step.values}
                  onChange={next => onChange({ ...choices, values: { ...choices.values, [step.id]: next } })}
                  onProblem={problem => reportProblem(step.id, problem)}
                />
              ) : null}
            </div>
          </fieldset>
        );
      })}
    </div>
  );
}
