'use client';
import { Archive, Copy, Download, Ellipsis, FileText, Link2, PencilLine, Settings2 } from 'lucide-react';
import dynamic from 'next/dynamic';
import { useState } from 'react';
import { useSession } from '../../session/session.tsx';
import { IconButton } from '../../ui/button.tsx';
import { useCopy } from '../../ui/copy.tsx';
import { Menu, MenuItem, MenuSeparator } from '../../ui/menu.tsx';
import { toast } from '../../ui/toaster.tsx';
import { useLoadedEarly, useOpened } from '../../ui/use-opened.ts';
import { useUrlState } from '../../ui/use-url-state.ts';
import { useDuplicate } from '../../workflows/use-duplicate.ts';
import { useExport } from '../../workflows/use-export.ts';
import { shareableUrl } from '../shareable-url.ts';
import type { Draft, Workflow } from '../use-draft.ts';

const loadDialogs = () => import('./menu-dialogs.ts');
const ArchiveWorkflow = dynamic(() => loadDialogs().then(module => module.ArchiveWorkflow), { ssr: false });
const DescriptionDialog = dynamic(() => loadDialogs().then(module => module.DescriptionDialog), { ssr: false });

type MenuProps = { workflow: Workflow; draft: Draft; editable: boolean; canWrite: boolean; onRename: () => void };

/** The menu of a workflow: the actions besides edit, test, publish and run. */
export function WorkflowMenu({ workflow, draft, editable, canWrite, onRename }: MenuProps) {
  const url = useUrlState();
  const { scope } = useSession();
  const { copy } = useCopy();
  const [describing, setDescribing] = useState(false);
  const hasDescription = useOpened(describing);
  const [archiving, setArchiving] = useState(false);
  const hasArchive = useOpened(archiving);
  const exportAs = useExport({ id: workflow.id, name: draft.state.draft.name });
  const duplicate = useDuplicate();
  useLoadedEarly(loadDialogs);
  const afterSaving = async (action: () => unknown) => {
    const { kind } = await draft.save();
    if (kind === 'saved') await action();
    else toast.error('The draft is not saved. Fix the problem shown in its status, then try again.');
  };
  const icon = 'size-3.5';
  return (
    <>
      <Menu
        trigger={
          <IconButton label="More actions" tooltip={false}>
            <Ellipsis aria-hidden className="size-4" />
          </IconButton>
        }
      >
        {editable ? (
          <>
            <MenuItem icon={<PencilLine aria-hidden className={icon} />} onSelect={onRename}>
              Rename
            </MenuItem>
            <MenuItem icon={<FileText aria-hidden className={icon} />} onSelect={() => setDescribing(true)}>
              Edit description
            </MenuItem>
            <MenuItem
              icon={<Settings2 aria-hidden className={icon} />}
              onSelect={() => url.set({ tab: undefined, panel: undefined, step: undefined, settings: '1' })}
            >
              Input, output and failures
            </MenuItem>
            <MenuSeparator />
          </>
        ) : null}
        <MenuItem
          icon={<Link2 aria-hidden className={icon} />}
          onSelect={() => {
            void copy(shareableUrl(window.location.href, scope));
            toast.success('The link is copied');
          }}
        >
          Copy link
        </MenuItem>
        <MenuItem
          icon={<Copy aria-hidden className={icon} />}
          onSelect={() => {
            void copy(workflow.id);
            toast.success('The ID is copied');
          }}
        >
          Copy ID
        </MenuItem>
        <MenuSeparator />
        {canWrite ? (
          <MenuItem
            icon={<Copy aria-hidden className={icon} />}
            onSelect={() => void afterSaving(() => duplicate(workflow.id))}
          >
            Duplicate
          </MenuItem>
        ) : null}
        {(['json', 'yaml'] as const).map(format => (
          <MenuItem
            key={format}
            icon={<Download aria-hidden className={icon} />}
            onSelect={() => void (editable ? afterSaving(() => exportAs(format)) : exportAs(format))}
          >
            Export as {format.toUpperCase()}
          </MenuItem>
        ))}
        {editable ? (
          <>
            <MenuSeparator />
            <MenuItem danger icon={<Archive aria-hidden className={icon} />} onSelect={() => setArchiving(true)}>
              Archive
            </MenuItem>
          </>
        ) : null}
      </Menu>
      {hasDescription ? (
        <DescriptionDialog open={describing} draft={draft} onClose={() => setDescribing(false)} />
      ) : null}
      {hasArchive ? <ArchiveWorkflow workflow={workflow} open={archiving} onOpenChange={setArchiving} /> : null}
    </>
  );
}
