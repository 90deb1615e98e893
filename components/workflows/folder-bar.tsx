'use client';
import { ChevronRight, Folder as FolderIcon, FolderPen, Tag, X } from 'lucide-react';
import dynamic from 'next/dynamic';
import { type DragEvent, type ReactNode, useState } from 'react';
import { usePermissions } from '../session/session.tsx';
import type { Outputs } from '../trpc/provider.tsx';
import { Button } from '../ui/button.tsx';
import { cx } from '../ui/classes.ts';
import { Menu, MenuChoice, MenuLabel } from '../ui/menu.tsx';
import { loadingBeforeClick, useOpened } from '../ui/use-opened.ts';
import { useUrlState } from '../ui/use-url-state.ts';
import { dragsWorkflows, droppedWorkflows } from './dragging.ts';
import { foldersIn, foldersTo, nameOf } from './folder-paths.ts';
import { readTags } from './list-input.ts';
import { useMoveWorkflows } from './use-organize.ts';

const loadRename = () => import('./rename-folder.tsx');
const RenameFolder = dynamic(() => loadRename().then(module => module.RenameFolder), { ssr: false });

type Places = Outputs['workflows_list_folders'];

/**
 * Shows the path to the current folder, the folders inside it, and the chosen tags. Renders nothing if there are none.
 */
export function FolderBar({ places: { folders } }: { places: Places }) {
  const { get, set } = useUrlState();
  const { canWrite } = usePermissions();
  const [isRenaming, setIsRenaming] = useState(false);
  const hasRename = useOpened(isRenaming);
  const shown = get('folder');
  const tags = readTags(get);
  const inside = foldersIn(shown, folders);
  const open = (folder: string) => set({ folder, cursor: '' }, { push: true });
  if (shown === '' && inside.length === 0 && tags.length === 0) return null;
  return (
    <nav aria-label="Folders" className="mb-3 flex flex-wrap items-center gap-1.5">
      {shown === '' ? null : (
        <ol className="mr-2 flex flex-wrap items-center gap-0.5 text-sm">
          <li>
            <Target folder="" onOpen={open}>
              All workflows
            </Target>
          </li>
          {foldersTo(shown).map(({ path, name }) => (
            <li key={path} className="flex items-center gap-0.5">
              <ChevronRight aria-hidden className="size-3.5 text-faint" />
              <Target folder={path} onOpen={open} isCurrent={path === shown}>
                {name}
              </Target>
            </li>
          ))}
          {canWrite ? (
            <li>
              <Button
                size="sm"
                variant="ghost"
                icon={<FolderPen aria-hidden className="size-3.5" />}
                {...loadingBeforeClick(loadRename)}
                onClick={() => setIsRenaming(true)}
              >
                Rename folder
              </Button>
            </li>
          ) : null}
        </ol>
      )}
      {inside.map(({ path, workflows }) => (
        <Target key={path} folder={path} onOpen={open} isChip>
          <FolderIcon aria-hidden className="size-3.5 text-muted" />
          <span className="max-w-48 truncate">{nameOf(path)}</span>
          <span className="text-xs text-faint tabular-nums">{workflows}</span>
        </Target>
      ))}
      {tags.map(tag => (
        <Button
          key={tag}
          size="sm"
          aria-label={`Show workflows without the tag ${tag}, too`}
          icon={<Tag aria-hidden className="size-3.5" />}
          onClick={() => set({ tags: tags.filter(each => each !== tag).join(), cursor: '' }, { push: true })}
        >
          <span className="max-w-48 truncate">{tag}</span>
          <X aria-hidden className="size-3.5" />
        </Button>
      ))}
      {hasRename ? (
        <RenameFolder key={shown} folder={shown} open={isRenaming} onClose={() => setIsRenaming(false)} />
      ) : null}
    </nav>
  );
}

type TargetProps = {
  folder: string;
  onOpen: (folder: string) => void;
  isCurrent?: boolean;
  isChip?: boolean;
  children: ReactNode;
};

/** A button that opens a folder, and accepts workflows that are dropped on it. */
function Target({ folder, onOpen, isCurrent = false, isChip = false, children }: TargetProps) {
  const move = useMoveWorkflows();
  const [isOver, setIsOver] = useState(false);
  const allowDrop = (event: DragEvent) => {
    if (!dragsWorkflows(event)) return;
    event.preventDefault();
    setIsOver(true);
  };
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setIsOver(false);
    const ids = droppedWorkflows(event);
    if (ids.length > 0) move.mutate({ workflow_ids: ids, folder });
  };
  return (
    <button
      type="button"
      aria-current={isCurrent ? 'page' : undefined}
      onClick={() => onOpen(folder)}
      onDragEnter={allowDrop}
      onDragOver={allowDrop}
      onDragLeave={() => setIsOver(false)}
      onDrop={drop}
      className={cx(
        'inline-flex h-7 items-center gap-1.5 rounded-md px-2 text-sm hover:bg-hover',
        isChip && 'border bg-surface shadow-sm',
        isCurrent && 'font-medium',
        isOver && 'bg-accent-soft outline-2 outline-accent',
      )}
    >
      {children}
    </button>
  );
}

/** Selects the tags that a workflow must have. Each tag shows its number of workflows. */
export function TagMenu({ tags }: { tags: Places['tags'] }) {
  const { get, set } = useUrlState();
  const chosen = readTags(get);
  if (tags.length === 0) return null;
  const toggle = (tag: string) => {
    const next = chosen.includes(tag) ? chosen.filter(each => each !== tag) : [...chosen, tag];
    set({ tags: next.join(), cursor: '' }, { push: true });
  };
  return (
    <Menu align="start" trigger={<Button icon={<Tag aria-hidden className="size-3.5" />}>Tags</Button>}>
      <MenuLabel>Tags</MenuLabel>
      {tags.map(({ tag, workflows }) => (
        <MenuChoice key={tag} checked={chosen.includes(tag)} onSelect={() => toggle(tag)}>
          {`${tag} (${workflows})`}
        </MenuChoice>
      ))}
    </Menu>
  );
}
