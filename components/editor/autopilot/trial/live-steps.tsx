'use client';
import { TriangleAlert } from 'lucide-react';
import { stepPreview } from '@/server/orchestrator/steps/step-previews.ts';
import type { Step } from '../../../../server/domains/workflows/edits/index.ts';
import { NamedStep } from '../../../runs/step-names.tsx';
import { Checkbox } from '../../../ui/checkbox.tsx';
import { Field, Input } from '../../../ui/field.tsx';
import { type Effect, effectLabels } from '../proposal.ts';
import { hostsOf, isHostUnknown } from './effects.ts';

type Props = {
  effects: ReadonlyMap<string, readonly Effect[]>;
  steps: readonly Step[];
  liveSteps: ReadonlySet<string>;
  onLiveSteps: (steps: ReadonlySet<string>) => void;
  /** The hosts to which a person has agreed. */
  hosts: ReadonlySet<string>;
  onHosts: (hosts: ReadonlySet<string>) => void;
  budget: string;
  onBudget: (budget: string) => void;
};

const liveEffectOf = (step: Step | undefined) => step && stepPreview(step.type).liveEffect?.(step);

function withToggled(all: ReadonlySet<string>, one: string, isChosen: boolean): ReadonlySet<string> {
  const next = new Set(all);
  if (isChosen) next.add(one);
  else next.delete(one);
  return next;
}

/** Edits the consent to a live trial: the steps that it executes, the hosts to which it may send, and its budget. */
export function LiveSteps({ effects, steps, liveSteps, onLiveSteps, hosts, onHosts, budget, onBudget }: Props) {
  const neededHosts = hostsOf(effects, liveSteps);
  return (
    <>
      <p className="flex items-start gap-2 rounded-md bg-warn-soft px-3 py-2 text-sm text-warn">
        <TriangleAlert aria-hidden className="mt-0.5 size-4 shrink-0" />
        The steps you select are executed for real. This cannot be undone. All other steps are replaced as before.
      </p>
      <fieldset className="flex flex-col gap-2">
        <legend className="mb-1 text-sm font-medium">Steps to execute for real</legend>
        {[...effects].map(([step, stepEffects]) => (
          <div key={step} className="rounded-md border px-3 py-2 wrap-anywhere">
            <Checkbox
              checked={liveSteps.has(step)}
              disabled={isHostUnknown(stepEffects)}
              onCheckedChange={isChosen => onLiveSteps(withToggled(liveSteps, step, isChosen))}
              label={
                <>
                  <NamedStep id={step} /> {[...new Set(stepEffects.map(({ why }) => effectLabels[why]))].join(', ')}
                </>
              }
              hint={
                isHostUnknown(stepEffects)
                  ? 'Its host is known only during the run, so a trial never executes it for real.'
                  : liveEffectOf(steps.find(({ id }) => id === step))
              }
            />
            <details className="mt-1 pl-6">
              <summary className="cursor-default text-xs text-accent-text">Exactly what it does</summary>
              <pre className="mt-1 max-h-60 overflow-auto rounded bg-sunken p-2 text-xs whitespace-pre-wrap">
                {JSON.stringify(steps.find(({ id }) => id === step) ?? {}, null, 2)}
              </pre>
            </details>
          </div>
        ))}
      </fieldset>
      {neededHosts.length === 0 ? null : (
        <fieldset className="flex flex-col gap-2">
          <legend className="mb-1 text-sm font-medium">Hosts that may receive data from these steps</legend>
          {neededHosts.map(host => (
            <Checkbox
              key={host}
              checked={hosts.has(host)}
              onCheckedChange={isChosen => onHosts(withToggled(hosts, host, isChosen))}
              label={<code>{host}</code>}
            />
          ))}
        </fieldset>
      )}
      <Field label="Budget in credits" hint="The run is stopped when it exceeds this budget.">
        <Input
          type="number"
          min={0.000_001}
          max={1_000_000}
          step="any"
          required
          value={budget}
          onChange={event => onBudget(event.target.value)}
        />
      </Field>
    </>
  );
}
