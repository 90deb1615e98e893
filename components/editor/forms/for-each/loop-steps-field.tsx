'use client';
import { ChevronRight, Plus } from 'lucide-react';
import { useState } from 'react';
import { summaryOf } from '@/server/orchestrator/steps/summary.ts';
import { stepsOfLoop } from '../../../graph/loop-steps.ts';
import { StepTile, stepTypeLook } from '../../../graph/step-icon.tsx';
import { Button } from '../../../ui/button.tsx';
import { Checkbox } from '../../../ui/checkbox.tsx';
import { JsonField, type SchemaFieldProps } from '../../inspector/code-field.tsx';
import type { OpenLoop } from '../../inspector/inspector.tsx';

type Props = SchemaFieldProps & { onOpenLoop: OpenLoop };

/** The steps of a loop as a list, or as JSON if the user prefers it. Each step opens in the editor of the loop. */
export function LoopStepsField({ onOpenLoop, ...props }: Props) {
  const { step, onChange, readOnly, problem, unfinished, id } = props;
  const [prefersJson, setPrefersJson] = useState(() => unfinished.has(id));
  const steps = stepsOfLoop(step) ?? (step.steps === undefined ? [] : null);
  if (steps === null) return <JsonField {...props} />;
  return (
    <section aria-label="Steps of the loop" className="flex flex-col gap-2">
      <div className="flex items-center justify-between gap-3">
        <h3 className="text-sm font-medium">Steps, for each item</h3>
        <Checkbox label="Edit as JSON" checked={prefersJson} onCheckedChange={setPrefersJson} />
      </div>
      {prefersJson ? (
        <JsonField {...props} />
      ) : (
        <>
          {steps.length === 0 ? <p className="text-xs text-muted">No steps yet.</p> : null}
          <ol className="flex flex-col gap-1">
            {steps.map(inner => (
              <li key={inner.id}>
                <button
                  type="button"
                  onClick={() => onOpenLoop(step.id, { step: inner.id })}
                  className="flex w-full items-center gap-2 rounded-md border px-2 py-1.5 text-left hover:bg-hover"
                >
                  <StepTile type={inner.type} />
                  <span className="min-w-0 flex-1">
                    <span className="block truncate text-sm">
                      {typeof inner.name === 'string' && inner.name !== '' ? inner.name : inner.id}
                    </span>
                    <span className="block truncate text-xs text-muted">
                      {summaryOf(inner) ?? stepTypeLook(inner.type).label}
                    </span>
                  </span>
                  <ChevronRight aria-hidden className="size-4 shrink-0 text-faint" />
                </button>
              </li>
            ))}
          </ol>
          {problem ? (
            <p role="alert" className="text-xs wrap-anywhere text-bad">
              {problem}
            </p>
          ) : null}
          {readOnly ? null : (
            <Button
              size="sm"
              className="self-start"
              icon={<Plus aria-hidden className="size-3.5" />}
              onClick={() => {
                // A loop without a list of steps cannot be opened, so the list is created first.
                if (step.steps === undefined) onChange([]);
                onOpenLoop(step.id, { adds: true });
              }}
            >
              Add a step to the loop
            </Button>
          )}
        </>
      )}
    </section>
  );
}
