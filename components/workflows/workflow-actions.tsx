'use client';
import { Archive, Copy, Download, Ellipsis, ExternalLink, FolderInput, Play } from 'lucide-react';
import dynamic from 'next/dynamic';
import { useRouter } from 'next/navigation';
import { useCallback, useState } from 'react';
import { usePermissions } from '../session/session.tsx';
import type { Outputs } from '../trpc/provider.tsx';
import { IconButton } from '../ui/button.tsx';
import { Menu, MenuItem, MenuSeparator } from '../ui/menu.tsx';
import { useLoadedEarly, useOpened } from '../ui/use-opened.ts';
import { useDuplicate } from './use-duplicate.ts';
import { useExport } from './use-export.ts';

// Loaded separately: with the forms of its input, the dialog is larger than the list.
const StartRunDialog = dynamic(() => import('./start-run-dialog.tsx').then(module => module.StartRunDialog), {
  ssr: false,
});

const loadArchive = () => import('./archive-workflow.tsx');
const ArchiveWorkflow = dynamic(() => loadArchive().then(module => module.ArchiveWorkflow), { ssr: false });

const loadOrganize = () => import('./organize-dialog.tsx');
const OrganizeDialog = dynamic(() => loadOrganize().then(module => module.OrganizeDialog), { ssr: false });

export type WorkflowRow = Outputs['workflows_list']['workflows'][number];

/** The menu of a workflow in the list. */
export function WorkflowActions({ workflow }: { workflow: WorkflowRow }) {
  const router = useRouter();
  const { canWrite } = usePermissions();
  const [starting, setStarting] = useState(false);
  const hasStart = useOpened(starting);
  const close = useCallback(() => setStarting(false), []);
  const [archiving, setArchiving] = useState(false);
  const hasArchive = useOpened(archiving);
  useLoadedEarly(loadArchive);
  const [isOrganizing, setOrganizing] = useState(false);
  const hasOrganize = useOpened(isOrganizing);
  const save = useExport(workflow);
  const duplicate = useDuplicate();
  const archived = workflow.status === 'archived';
  const icon = 'size-3.5';
  return (
    <>
      <Menu
        trigger={
          <IconButton label={`Actions for ${workflow.name}`} size="sm" tooltip={false}>
            <Ellipsis aria-hidden className="size-4" />
          </IconButton>
        }
      >
        <MenuItem
          icon={<ExternalLink aria-hidden className={icon} />}
          onSelect={() => router.push(`/workflows/${workflow.id}`)}
        >
          Open
        </MenuItem>
        {canWrite && !archived ? (
          <MenuItem
            icon={<Play aria-hidden className={icon} />}
            disabled={workflow.latest_version === null}
            onSelect={() => setStarting(true)}
          >
            {workflow.latest_version === null ? 'Run (publish it first)' : 'Run'}
          </MenuItem>
        ) : null}
        {canWrite ? (
          <MenuItem icon={<Copy aria-hidden className={icon} />} onSelect={() => void duplicate(workflow.id)}>
            Duplicate
          </MenuItem>
        ) : null}
        {canWrite ? (
          <MenuItem icon={<FolderInput aria-hidden className={icon} />} onSelect={() => setOrganizing(true)}>
            Move or tag
          </MenuItem>
        ) : null}
        <MenuSeparator />
        <MenuItem icon={<Download aria-hidden className={icon} />} onSelect={() => void save('json')}>
          Export as JSON
        </MenuItem>
        <MenuItem icon={<Download aria-hidden className={icon} />} onSelect={() => void save('yaml')}>
          Export as YAML
        </MenuItem>
        {canWrite && !archived ? (
          <>
            <MenuSeparator />
            <MenuItem danger icon={<Archive aria-hidden className={icon} />} onSelect={() => setArchiving(true)}>
              Archive
            </MenuItem>
          </>
        ) : null}
      </Menu>
      {hasStart ? <StartRunDialog workflowId={starting ? workflow.id : null} onClose={close} /> : null}
      {hasOrganize ? (
        <OrganizeDialog
          key={`${isOrganizing}`}
          workflows={[workflow]}
          open={isOrganizing}
          onClose={() => setOrganizing(false)}
        />
      ) : null}
      {hasArchive ? <ArchiveWorkflow workflow={workflow} open={archiving} onOpenChange={setArchiving} /> : null}
    </>
  );
}
