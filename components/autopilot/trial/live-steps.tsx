'use client';
import { TriangleAlert } from 'lucide-react';
import { stepPreview } from '@/server/orchestrator/steps/step-previews.ts';
import type { Step } from '../../../server/domains/workflows/edits/index.ts';
import { Checkbox } from '../../ui/checkbox.tsx';
import { Field, Input } from '../../ui/field.tsx';
import { type Effect, effectLabels } from '../proposal.ts';

type Props = {
  effects: ReadonlyMap<string, readonly Effect[]>;
  steps: readonly Step[];
  really: ReadonlySet<string>;
  onReally: (steps: ReadonlySet<string>) => void;
  budget: string;
  onBudget: (budget: string) => void;
};

const deedOf = (step: Step | undefined) => step && stepPreview(step.type).deed?.(step);

/** Lists the steps that a trial can execute for real: a person agrees to each, and to a budget for the run. */
export function LiveSteps({ effects, steps, really, onReally, budget, onBudget }: Props) {
  const choose = (step: string, isChosen: boolean) => {
    const next = new Set(really);
    if (isChosen) next.add(step);
    else next.delete(step);
    onReally(next);
  };
  return (
    <>
      <p className="flex items-start gap-2 rounded-md bg-warn-soft px-3 py-2 text-sm text-warn">
        <TriangleAlert aria-hidden className="mt-0.5 size-4 shrink-0" />
        The steps that you choose are executed for real, which cannot be undone. All other steps are replaced as before.
      </p>
      <fieldset className="flex flex-col gap-2">
        <legend className="mb-1 text-sm font-medium">What is to happen for real</legend>
        {[...effects].map(([step, of]) => (
          <div key={step} className="rounded-md border px-3 py-2 wrap-anywhere">
            <Checkbox
              checked={really.has(step)}
              onCheckedChange={isChosen => choose(step, isChosen)}
              label={
                <>
                  <code>{step}</code> {[...new Set(of.map(({ why }) => effectLabels[why]))].join(', ')}
                </>
              }
              hint={deedOf(steps.find(({ id }) => id === step))}
            />
          </div>
        ))}
      </fieldset>
      <Field label="Budget in credits" hint="The run is stopped as soon as it has charged more.">
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
