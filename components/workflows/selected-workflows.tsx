'use client';
import { FolderInput, X } from 'lucide-react';
import dynamic from 'next/dynamic';
import { useState } from 'react';
import { Button } from '../ui/button.tsx';
import { loadingBeforeClick, useOpened } from '../ui/use-opened.ts';
import type { WorkflowRow } from './workflow-actions.tsx';

const loadOrganize = () => import('./organize-dialog.tsx');
const OrganizeDialog = dynamic(() => loadOrganize().then(module => module.OrganizeDialog), { ssr: false });

type Props = { workflows: readonly WorkflowRow[]; onClear: () => void };

/** The actions for the selected workflows. */
export function SelectedWorkflows({ workflows, onClear }: Props) {
  const [isOrganizing, setOrganizing] = useState(false);
  const hasOrganize = useOpened(isOrganizing);
  return (
    <section
      aria-label="Selected workflows"
      className="sticky top-2 z-10 mb-2 flex flex-wrap items-center gap-2 rounded-md border bg-surface p-2 shadow-md"
    >
      <span aria-live="polite" className="px-1 text-sm tabular-nums">
        {workflows.length} selected
      </span>
      <Button
        size="sm"
        icon={<FolderInput aria-hidden className="size-3.5" />}
        {...loadingBeforeClick(loadOrganize)}
        onClick={() => setOrganizing(true)}
      >
        Move or tag
      </Button>
      <Button size="sm" variant="ghost" icon={<X aria-hidden className="size-3.5" />} onClick={onClear}>
        Clear selection
      </Button>
      {hasOrganize ? (
        <OrganizeDialog
          key={workflows.map(({ id }) => id).join()}
          workflows={workflows}
          open={isOrganizing}
          onClose={() => setOrganizing(false)}
          onDone={onClear}
        />
      ) : null}
    </section>
  );
}
