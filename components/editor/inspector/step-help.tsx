'use client';
import { STEP_HELP } from '@/server/orchestrator/steps/step-help.ts';
import { CopyButton } from '../../ui/copy.tsx';
import { ScrollRegion } from '../../ui/scroll-region.tsx';

const json = (value: unknown) => JSON.stringify(value, null, 2);

/** Explains a step type, its result and an example. Renders nothing for an unknown type. */
export function StepHelp({ type }: { type: string }) {
  const known: Partial<Record<string, (typeof STEP_HELP)[keyof typeof STEP_HELP]>> = STEP_HELP;
  const help = known[type];
  if (help === undefined) return null;
  const { what, result, facts, example, run } = help;
  return (
    <details className="border-t pt-3">
      <summary className="text-sm font-medium">Help</summary>
      <div className="mt-3 flex flex-col gap-3 text-sm">
        <p>{what}</p>
        <p>
          <span className="font-medium">Result:</span> {result}
        </p>
        <ul className="list-disc space-y-1 pl-4 text-muted">
          {facts.map(fact => (
            <li key={fact}>{fact}</li>
          ))}
        </ul>
        <Code label="Example" text={json(example.steps)} />
        <p className="text-xs text-muted">Copy the example and paste it on the canvas to try it.</p>
        {run ? (
          <>
            <Code label="Its input" text={json(run.input)} />
            <Code label="Its result" text={json(run.result)} />
          </>
        ) : null}
      </div>
    </details>
  );
}

function Code({ label, text }: { label: string; text: string }) {
  return (
    <div className="rounded-md border bg-sunken">
      <div className="flex items-center justify-between border-b py-0.5 pr-0.5 pl-3 text-xs text-muted">
        {label}
        <CopyButton text={text} label={`Copy: ${label.toLowerCase()}`} />
      </div>
      <ScrollRegion label={label} className="max-h-72 overflow-auto p-3">
        <pre className="font-mono text-xs leading-5">{text}</pre>
      </ScrollRegion>
    </div>
  );
}
