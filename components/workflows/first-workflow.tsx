'use client';
import { FileUp, Plus, Sparkles } from 'lucide-react';
import { useId } from 'react';
import { useSession } from '../session/session.tsx';
import { Button, ButtonLink } from '../ui/button.tsx';
import { GraphPicture } from './graph-picture.tsx';
import { messageTriage } from './templates/message-triage.ts';
import { nightlyReport } from './templates/nightly-report.ts';
import { purchaseApproval } from './templates/purchase-approval.ts';
import type { Template } from './templates/template.ts';

/** One template for people, one for requests, one for models. */
const shown: readonly Template[] = [purchaseApproval, nightlyReport, messageTriage];

type Props = { onCreate: (template?: string) => void; onImport: () => void };

/** Shown in place of an empty list of workflows: three templates with their pictures, and the other ways to start. */
export function FirstWorkflow({ onCreate, onImport }: Props) {
  const { agents } = useSession().me;
  return (
    <div className="flex flex-col gap-6 p-5 sm:p-8">
      <div className="flex flex-col items-center gap-1 text-center">
        <p className="text-lg font-semibold">No workflows yet</p>
        <p className="max-w-130 text-sm text-muted">
          A workflow is a graph of steps that runs to its end, whatever happens to the server. Start from one of these,
          or from a blank canvas.
        </p>
      </div>
      <ul className="grid gap-4 md:grid-cols-3">
        {shown.map(template => (
          <li key={template.slug} className="flex">
            <TemplateCard template={template} onChoose={() => onCreate(template.slug)} />
          </li>
        ))}
      </ul>
      <div className="flex flex-wrap justify-center gap-2">
        <Button icon={<FileUp aria-hidden className="size-3.5" />} onClick={onImport}>
          Import
        </Button>
        {agents ? (
          <ButtonLink href="/chat/new?agent=autopilot" icon={<Sparkles aria-hidden className="size-3.5" />}>
            Describe it to Autopilot
          </ButtonLink>
        ) : null}
        <Button variant="primary" icon={<Plus aria-hidden className="size-3.5" />} onClick={() => onCreate()}>
          Create workflow
        </Button>
      </div>
    </div>
  );
}

function TemplateCard({ template, onChoose }: { template: Template; onChoose: () => void }) {
  const { name, sentence, graph } = template;
  const id = useId();
  return (
    <button
      type="button"
      aria-label={`Start from ${name}`}
      aria-describedby={id}
      onClick={onChoose}
      className="group flex w-full flex-col overflow-hidden rounded-lg border bg-surface text-left shadow-sm transition-colors hover:border-accent"
    >
      <span
        className="flex h-56 w-full items-center justify-center border-b bg-sunken p-4"
        style={{ backgroundImage: 'radial-gradient(var(--dots) 1px, transparent 1px)', backgroundSize: '14px 14px' }}
      >
        <GraphPicture steps={graph.steps} className="h-full w-full" />
      </span>
      <span className="flex flex-col gap-0.5 p-3">
        <span className="text-sm font-medium group-hover:text-accent-text">{name}</span>
        <span id={id} className="text-xs text-muted">
          {sentence}
        </span>
      </span>
    </button>
  );
}
