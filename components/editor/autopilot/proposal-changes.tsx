'use client';
import { Check } from 'lucide-react';
import { Checkbox } from 'radix-ui';
import { use, useEffect, useRef } from 'react';
import type { DraftDiff } from '../../../server/domains/workflows/edits/index.ts';
import { StepNames } from '../../runs/step-names.tsx';
import { useUrlState } from '../../ui/use-url-state.ts';
import { ChangeList } from '../changes/change-list.tsx';
import { changesOutside } from './proposal.ts';

type Props = {
  diff: DraftDiff;
  /** The steps whose changes would be applied. */
  chosen: ReadonlySet<string>;
  /** The deselected steps. */
  left: ReadonlySet<string>;
  /** Toggles a step. Absent if steps cannot be chosen. */
  onToggle: ((step: string, isChosen: boolean) => void) | undefined;
};

/** Shows the changes of a proposal, with a checkbox for each step that can be left out. */
export function ProposalChanges({ diff, chosen, left, onToggle }: Props) {
  const called = use(StepNames);
  const url = useUrlState();
  const selected = url.get('step');
  const frame = useRef<HTMLElement>(null);
  useEffect(() => {
    // Scrolls to the step that was selected on the graph.
    if (selected !== '') frame.current?.querySelector('li.border-accent')?.scrollIntoView({ block: 'nearest' });
  }, [selected]);
  return (
    <section ref={frame} aria-label="What it changes" className="flex flex-col gap-2">
      <h3 className="text-sm font-semibold">Changes</h3>
      <ChangeList
        diff={diff}
        called={called}
        whole
        selected={selected}
        onShow={step => url.set({ step })}
        {...(onToggle && {
          before: (step: string) => (
            <StepBox
              step={called(step)}
              checked={chosen.has(step)}
              isNeeded={chosen.has(step) && left.has(step)}
              onChange={isChosen => onToggle(step, isChosen)}
            />
          ),
        })}
      />
      {left.size > 0 && changesOutside(diff) ? (
        <p className="text-xs text-muted">If you apply only some steps, changes outside those steps are left out.</p>
      ) : null}
    </section>
  );
}

type BoxProps = {
  /** The name of the step. */
  step: string;
  checked: boolean;
  isNeeded: boolean;
  onChange: (checked: boolean) => void;
};

function StepBox({ step, checked, isNeeded, onChange }: BoxProps) {
  return (
    <Checkbox.Root
      aria-label={`Apply ${step}`}
      title={isNeeded ? 'Required by another selected step.' : undefined}
      checked={checked}
      onCheckedChange={value => onChange(value === true)}
      className="relative flex size-4 shrink-0 items-center justify-center rounded-sm border border-line-strong bg-surface after:absolute after:-inset-1 data-[state=checked]:border-accent data-[state=checked]:bg-accent"
    >
      <Checkbox.Indicator>
        <Check aria-hidden className="size-3 text-on-accent" strokeWidth={3} />
      </Checkbox.Indicator>
    </Checkbox.Root>
  );
}
