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
  /** The last trial, of which the form takes what it can. */
  last: Trial | undefined;
  /** Whether a person chooses steps of the last trial that are executed for real. */
  isLive: boolean;
  onClose: () => void;
};

/** Asks what a trial has to show, for its data and, where it is live, what is to happen for real; and starts it. */
export function TrialForm({ proposal, changes, last, isLive, onClose }: Props) {
  const { id, draft, workflow_id: workflowId } = proposal;
  const steps = draft.graph.steps.map(step => step.id);
  const [checks, setChecks] = useState<readonly CheckText[]>(() => startingChecks(last, changes, steps));
  const [really, setReally] = useState<ReadonlySet<string>>(new Set());
  const [hosts, setHosts] = useState<ReadonlySet<string>>(new Set());
  // What was shown when the form was opened is what is tried: if it has changed since, the server says so.
  const [etag] = useState(proposal.etag);
  const [budget, setBudget] = useState(DEFAULT_BUDGET_CREDITS);
  const asked = last === undefined ? [] : hostsOf(effectsOf(last), really);
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
      start.live.mutate({ ...trial, etag, really: [...really], hosts: asked, budget_credits: Number(budget) });
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
          really={really}
          onReally={setReally}
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
          disabled={problem !== null || (isLive && (really.size === 0 || !asked.every(host => hosts.has(host))))}
        >
          {isLive ? liveAction(really.size) : 'Start the trial'}
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
 * Returns the data that the trial works on, and its setter: a person's choice; before that the data of the last trial,
 * or of the run that Autopilot was asked about, or the input of the run setup.
 */
function useTrialSource({ draft, ...proposal }: Proposal, changes: readonly StepChange[], last: Trial | undefined) {
  const [chosen, setChosen] = useState<TrialSource | null>(null);
  const asked = useRunInQuestion({ draft, ...proposal });
  const ids = new Set(draft.graph.steps.map(({ id }) => id));
  const changed = changes.find(({ step }) => ids.has(step))?.step ?? draft.graph.steps[0]?.id ?? '';
  const input = JSON.stringify(draft.run_setup.trigger_payload ?? {}, null, 2);
  const lastStep = last?.from_step ?? null;
  const askedStep = asked?.step?.split('.')[0] ?? '';
  const first: TrialSource =
    last !== undefined
      ? { run: last.from_run ?? '', step: lastStep !== null && ids.has(lastStep) ? lastStep : changed, input }
      : { run: asked?.run ?? '', step: ids.has(askedStep) ? askedStep : changed, input };
  return [chosen ?? first, setChosen] as const;
}

/** The checks of the last trial as far as their steps are there, or that what is added or changed completes. */
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
