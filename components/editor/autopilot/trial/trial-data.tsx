'use client';
import { useQuery } from '@tanstack/react-query';
import { use } from 'react';
import { StepNames } from '../../../runs/step-names.tsx';
import { type Outputs, useTRPC } from '../../../trpc/provider.tsx';
import { Field, Textarea } from '../../../ui/field.tsx';
import { Select } from '../../../ui/select.tsx';
import { statusLook } from '../../../ui/status-badge.tsx';
import { formatRelative, useNow } from '../../../ui/time.tsx';
import type { TrialSource } from '../proposal.ts';

type Run = Outputs['workflows_list_runs']['runs'][number];

type Props = {
  /** The workflow; null for a proposal of a new workflow, which has no runs. */
  workflowId: string | null;
  steps: readonly string[];
  source: TrialSource;
  problem: string | null;
  onChange: (source: TrialSource) => void;
};

/** Edits the data of a trial: a new input, or an earlier run that is continued from a step. */
export function TrialData({ workflowId, steps, source, problem, onChange }: Props) {
  const called = use(StepNames);
  const { run, step, input } = source;
  return (
    <>
      {workflowId === null ? null : (
        <PastRun
          workflowId={workflowId}
          value={run}
          onChange={chosen => {
            const failed = chosen?.error?.step_id.split('.')[0] ?? '';
            onChange({
              ...source,
              run: chosen?.run_id ?? '',
              step: steps.includes(failed) ? failed : step || (steps[0] ?? ''),
            });
          }}
        />
      )}
      {run === '' ? (
        <Field label="Input of the run" error={problem}>
          <Textarea
            rows={3}
            className="font-mono text-xs"
            spellCheck={false}
            value={input}
            onChange={event => onChange({ ...source, input: event.target.value })}
          />
        </Field>
      ) : (
        <Field label="From step" hint="The steps before it keep their results from that run.">
          <Select
            value={step}
            options={steps.map(id => ({ value: id, label: called(id) }))}
            onChange={next => onChange({ ...source, step: next })}
          />
        </Field>
      )}
    </>
  );
}

type PastRunProps = { workflowId: string; value: string; onChange: (run: Run | null) => void };

/** Offers the last ended runs of the workflow. */
function PastRun({ workflowId, value, onChange }: PastRunProps) {
  const trpc = useTRPC();
  const now = useNow();
  const list = useQuery(trpc.workflows_list_runs.queryOptions({ id: workflowId, limit: 20 }));
  const runs = (list.data?.runs ?? []).filter(({ ended_at }) => ended_at !== null);
  if (runs.length === 0 && value === '') return null;
  return (
    <Field label="Data" hint="Uses the input of an earlier run and the results of its steps.">
      <Select
        value={value}
        options={[
          { value: '', label: 'Custom input' },
          ...runs.map(run => ({
            value: run.run_id,
            label: `Run ${now === 0 ? run.started_at : formatRelative(Date.parse(run.started_at), now)}, ${statusLook('run', run.status).label}`,
            hint: run.error?.message ?? (run.test ? 'Draft' : `Version ${run.version}`),
          })),
          ...(value === '' || runs.some(({ run_id }) => run_id === value)
            ? []
            : [{ value, label: `Run ${value.slice(0, 8)}` }]),
        ]}
        onChange={next => onChange(runs.find(({ run_id }) => run_id === next) ?? null)}
      />
    </Field>
  );
}
