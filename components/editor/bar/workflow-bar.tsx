'use client';
import { useQuery } from '@tanstack/react-query';
import { FlaskConical, Play, Rocket } from 'lucide-react';
import dynamic from 'next/dynamic';
import { useState } from 'react';
import { useTRPC } from '../../trpc/provider.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Link } from '../../ui/link.tsx';
import { StatusBadge } from '../../ui/status-badge.tsx';
import { TabStrip } from '../../ui/tabs.tsx';
import { loadingBeforeClick } from '../../ui/use-opened.ts';
import { change } from '../change.ts';
import type { Person } from '../editor-store.ts';
import { OtherEditors } from '../other-editors.tsx';
import { SaveIndicator } from '../save-indicator.tsx';
import type { Draft, Workflow } from '../use-draft.ts';
import { NameField } from './name-field.tsx';

// Loaded on demand: few users open the menu, and the code of its actions is as large as that of the bar.
const WorkflowMenu = dynamic(() => import('./workflow-menu.tsx').then(module => module.WorkflowMenu), {
  ssr: false,
  loading: () => <span className="size-8 shrink-0" />,
});

export type TabName = 'draft' | 'versions' | 'runs';
const tabs: readonly { value: TabName; label: string }[] = [
  { value: 'draft', label: 'Draft' },
  { value: 'versions', label: 'Versions' },
  { value: 'runs', label: 'Runs' },
];

type BarProps = {
  workflow: Workflow;
  draft: Draft;
  editable: boolean;
  canWrite: boolean;
  /** Whether the workflow has a version that can run. */
  runnable: boolean;
  others: readonly Person[];
  otherWindow: boolean;
  loadPublish: () => Promise<unknown>;
  loadRun: () => Promise<unknown>;
  onTest: () => void;
  onPublish: () => void;
  onRun: () => void;
};

/** The bar of a workflow page: breadcrumb, state, views and actions. */
export function WorkflowBar(props: BarProps) {
  const { workflow, draft, editable } = props;
  const [renaming, setRenaming] = useState(false);
  return (
    <header className="flex flex-wrap items-center gap-x-3 border-b bg-bg px-3 lg:h-12 lg:flex-nowrap">
      <div className="flex h-12 min-w-0 flex-1 basis-full items-center gap-1.5 lg:basis-0">
        <nav aria-label="Breadcrumb" className="hidden shrink-0 items-center gap-1.5 text-sm sm:flex">
          <Link href="/workflows" className="text-muted hover:text-text hover:underline">
            Workflows
          </Link>
          <span aria-hidden className="text-faint">
            /
          </span>
        </nav>
        <NameField
          name={draft.state.draft.name}
          editable={editable}
          hasRenameRequest={renaming}
          onAsked={() => setRenaming(false)}
          onRename={name => change(draft.store, [{ type: 'set_details', name }])}
        />
        <WorkflowState workflow={workflow} />
        <div className="ml-1 flex min-w-0 items-center gap-3 text-xs">
          {editable ? <SaveIndicator draft={draft} compact /> : <Badge>View only</Badge>}
          <OtherEditors people={props.others} otherWindow={props.otherWindow} />
        </div>
      </div>
      <TabStrip label="Views of the workflow" tabs={tabs} className="h-12 items-stretch *:py-0" />
      <div className="ml-auto flex h-12 flex-1 items-center justify-end gap-2 lg:basis-0">
        {editable ? <BarActions {...props} /> : null}
        <WorkflowMenu {...props} onRename={() => setRenaming(true)} />
      </div>
    </header>
  );
}

function BarActions({ runnable, loadPublish, loadRun, onTest, onPublish, onRun }: BarProps) {
  return (
    <>
      <Button
        icon={<FlaskConical aria-hidden className="size-3.5" />}
        title="Run the draft without publishing it"
        {...loadingBeforeClick(loadRun)}
        onClick={onTest}
      >
        Test
      </Button>
      <Button
        icon={<Rocket aria-hidden className="size-3.5" />}
        {...loadingBeforeClick(loadPublish)}
        onClick={onPublish}
      >
        Publish
      </Button>
      <Button
        variant="primary"
        icon={<Play aria-hidden className="size-3.5" />}
        disabled={!runnable}
        {...loadingBeforeClick(loadRun)}
        title={runnable ? undefined : 'Publish the workflow first: runs use a published version.'}
        onClick={onRun}
      >
        Run
      </Button>
    </>
  );
}

/** The state of a workflow: its latest version, and whether new runs use the draft. */
function WorkflowState({ workflow }: { workflow: Workflow }) {
  const trpc = useTRPC();
  const { id, status, latest_version: version, graph_checksum } = workflow;
  const latest = useQuery(
    trpc.workflows_get_version.queryOptions(
      { id, version: version ?? 1 },
      { enabled: version !== null, staleTime: Number.POSITIVE_INFINITY },
    ),
  );
  return (
    <span className="flex shrink-0 items-center gap-2">
      <StatusBadge kind="workflow" status={status} />
      {version === null ? null : <span className="text-sm text-muted tabular-nums">v{version}</span>}
      {latest.data && latest.data.graph_checksum !== graph_checksum ? (
        <Badge tone="warn">Unpublished changes</Badge>
      ) : null}
    </span>
  );
}
