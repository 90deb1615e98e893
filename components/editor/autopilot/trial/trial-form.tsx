'use client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { FlaskConical, Zap } from 'lucide-react';
import { type FormEvent, useState } from 'react';
import type { Step, StepChange } from '../../../../server/domains/workflows/edits/index.ts';
import { useTRPC } from '../../../trpc/provider.tsx';
import { Button } from '../../../ui/button.tsx';
import { FormError } from '../../../ui/states.tsx';
import { parseInput } from '../../../workflows/run-input.ts';
import {
  type CheckText,
  checkText,
  firstChecks,
  type Proposal,
  readCheck,
  type Trial,
  type TrialSource,
} from '../proposal.ts';
import { CheckFields } from './check-fields.tsx';
import { effectsOf, hostsOf } from './effects.ts';
import { LiveSteps } from './live-steps.tsx';
import { TrialData } from './trial-data.tsx';
import { useRunInQuestion } from './use-run-in-question.ts';

const DEFAULT_BUDGET_CREDITS = '10';

type Props = {
  proposal: Proposal;
  changes: readonly StepChange[];
  /** The last trial, whose values are the defaults of the form. */
  last: Trial | undefined;
  /** Whether the form starts a live trial. */
  isLive: boolean;
  onClose: () => void;
};

/** The form that starts a trial: its checks, its data and, for a live trial, the consent to its steps. */
export function TrialForm({ proposal, changes, last, isLive, onClose }: Props) {
  const { id, draft, workflow_id: workflowId } = proposal;
  const steps = draft.graph.steps.map(step => step.id);
  const [checks, setChecks] = useState<readonly CheckText[]>(() => startingChecks(last, changes, steps));
  const [liveSteps, setLiveSteps] = useState<ReadonlySet<string>>(new Set());
  const [hosts, setHosts] = useState<ReadonlySet<string>>(new Set());
  // The trial is of the state that the form shows. The server refuses it if the proposal has changed since.
  const [etag] = useState(proposal.etag);
  const [budget, setBudget] = useState(DEFAULT_BUDGET_CREDITS);
  const neededHosts = last === undefined ? [] : hostsOf(effectsOf(last), liveSteps);
  const [source, setSource] = useTrialSource(proposal, changes, last);
  const parsed = parseInput(source.input);
  const problem = source.run === '' && 'problem' in parsed ? parsed.problem : null;
  const start = useStart(id, onClose);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const data =
      source.run !== ''
        ? { from_run: source.run, from_step: source.step }
        : { input: 'input' in parsed ? parsed.input : {} };
    const trial = { id, checks: checks.map(readCheck), ...data };
    if (isLive)
      start.live.mutate({ ...trial, etag, really: [...liveSteps], hosts: neededHosts, budget_credits: Number(budget) });
    else start.simulated.mutate(trial);
  };
  return (
    <form
      aria-label={isLive ? 'Try for real' : 'Try the proposal'}
      className="flex flex-col gap-3 rounded-md border p-3"
      onSubmit={submit}
    >
      <FormError error={start.error} />
      {isLive && last !== undefined ? (
        <LiveSteps
          effects={effectsOf(last)}
          steps={draft.graph.steps as readonly Step[]}
          liveSteps={liveSteps}
          onLiveSteps={setLiveSteps}
          hosts={hosts}
          onHosts={setHosts}
          budget={budget}
          onBudget={setBudget}
        />
      ) : (
        <p className="text-xs text-muted">
          Scripts, conditions, models and read-only tools are executed, and model usage is charged. Baton evaluates the
          checks.
        </p>
      )}
      <CheckFields checks={checks} steps={steps} onChange={setChecks} />
      <TrialData workflowId={workflowId} steps={steps} source={source} problem={problem} onChange={setSource} />
      <div className="flex flex-wrap justify-end gap-2">
        <Button size="sm" onClick={onClose}>
          Cancel
        </Button>
        <Button
          size="sm"
          type="submit"
          variant={isLive ? 'danger' : 'primary'}
          icon={isLive ? <Zap aria-hidden className="size-3.5" /> : <FlaskConical aria-hidden className="size-3.5" />}
          pending={start.isPending}
          disabled={
            problem !== null || (isLive && (liveSteps.size === 0 || !neededHosts.every(host => hosts.has(host))))
          }
        >
          {isLive ? liveAction(liveSteps.size) : 'Start the trial'}
        </Button>
      </div>
    </form>
  );
}

const liveAction = (steps: number) =>
  steps === 0 ? 'Execute for real' : `Execute ${steps === 1 ? '1 step' : `${steps} steps`} for real`;

/** Returns the mutations that start a trial, simulated or live. The trial is shown at once. */
function useStart(id: string, onStarted: () => void) {
  const trpc = useTRPC();
  const queries = useQueryClient();
  const options = {
    onSuccess: (trial: Trial) => {
      queries.setQueryData(trpc.autopilot_get_trial.queryKey({ id }), trial);
      onStarted();
    },
  };
  const simulated = useMutation(trpc.autopilot_try_proposal.mutationOptions(options));
  const live = useMutation(trpc.autopilot_try_live.mutationOptions(options));
  return { simulated, live, error: simulated.error ?? live.error, isPending: simulated.isPending || live.isPending };
}

/**
 * Returns the data of the trial and its setter. Until the user chooses, this is the data of the last trial, of the run
 * that Autopilot was asked about, or of the run setup.
 */
function useTrialSource({ draft, ...proposal }: Proposal, changes: readonly StepChange[], last: Trial | undefined) {
  const [chosen, setChosen] = useState<TrialSource | null>(null);
  const runInQuestion = useRunInQuestion({ draft, ...proposal });
  const ids = new Set(draft.graph.steps.map(({ id }) => id));
  const changed = changes.find(({ step }) => ids.has(step))?.step ?? draft.graph.steps[0]?.id ?? '';
  const input = JSON.stringify(draft.run_setup.trigger_payload ?? {}, null, 2);
  const lastStep = last?.from_step ?? null;
  const askedStep = runInQuestion?.step?.split('.')[0] ?? '';
  const first: TrialSource =
    last !== undefined
      ? { run: last.from_run ?? '', step: lastStep !== null && ids.has(lastStep) ? lastStep : changed, input }
      : { run: runInQuestion?.run ?? '', step: ids.has(askedStep) ? askedStep : changed, input };
  return [chosen ?? first, setChosen] as const;
}

/** Returns the checks of the last trial whose steps still exist, or the initial checks. */
function startingChecks(
  last: Trial | undefined,
  changes: readonly StepChange[],
  steps: readonly string[],
): readonly CheckText[] {
  const former = (last?.checks ?? []).filter(({ step }) => steps.includes(step)).map(checkText);
  if (former.length > 0) return former;
  const first = firstChecks(changes);
  return first.length > 0 ? first : [{ step: steps[0] ?? '', path: '', op: 'completed', value: '' }];
}
