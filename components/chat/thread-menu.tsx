'use client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Archive, ArchiveRestore, Ellipsis, Lock, Pencil, Trash2, Users } from 'lucide-react';
import { useState } from 'react';
import { usePermissions, useSession } from '../session/session.tsx';
import { useTRPC } from '../trpc/provider.tsx';
import { IconButton } from '../ui/button.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { readError } from '../ui/errors.ts';
import { Field, Input } from '../ui/field.tsx';
import { FormDialog } from '../ui/form-dialog.tsx';
import { Menu, MenuItem, MenuSeparator } from '../ui/menu.tsx';
import { toast } from '../ui/toaster.tsx';
import { type Thread, useThreadActions } from './use-thread.ts';

type Props = { thread: Thread /** Called when the thread is archived or deleted. */; onGone: () => void };
type DialogKind = 'rename' | 'delete' | null;

/** Shows the actions on a whole thread to its owner and to administrators; nothing to anyone else. */
export function ThreadMenu({ thread, onGone }: Props) {
  const { me } = useSession();
  const { isAdmin } = usePermissions();
  const { patch, archive } = useThreadActions(thread.id);
  const [dialog, setDialog] = useState<DialogKind>(null);
  const { id, visibility, archived_at } = thread;
  if (thread.owner_id !== me.user.id && !isAdmin) return null;
  const isShared = visibility === 'project';
  const share = () =>
    patch.mutate(
      { id, visibility: isShared ? 'private' : 'project' },
      {
        onSuccess: () =>
          toast.success(isShared ? 'Only its owner can see the thread' : 'Everyone in the project can see the thread'),
      },
    );
  const isArchived = archived_at !== null;
  const toggleArchived = () =>
    archive.mutate({ id, archived: !isArchived }, { onSuccess: () => (isArchived ? undefined : onGone()) });
  const Share = isShared ? Lock : Users;
  const PutAway = isArchived ? ArchiveRestore : Archive;
  return (
    <>
      <Menu
        trigger={
          <IconButton label="Actions for the thread" size="sm" tooltip={false}>
            <Ellipsis aria-hidden className="size-4" />
          </IconButton>
        }
      >
        <MenuItem icon={<Share aria-hidden className="size-3.5" />} onSelect={share}>
          {isShared ? 'Make private' : 'Share with the project'}
        </MenuItem>
        <MenuItem icon={<Pencil aria-hidden className="size-3.5" />} onSelect={() => setDialog('rename')}>
          Rename
        </MenuItem>
        <MenuItem icon={<PutAway aria-hidden className="size-3.5" />} onSelect={toggleArchived}>
          {isArchived ? 'Unarchive' : 'Archive'}
        </MenuItem>
        <MenuSeparator />
        <MenuItem danger icon={<Trash2 aria-hidden className="size-3.5" />} onSelect={() => setDialog('delete')}>
          Delete
        </MenuItem>
      </Menu>
      {dialog === 'rename' ? <Rename thread={thread} onClose={() => setDialog(null)} /> : null}
      <Delete id={id} open={dialog === 'delete'} onClose={() => setDialog(null)} onGone={onGone} />
    </>
  );
}

function Rename({ thread, onClose }: { thread: Thread; onClose: () => void }) {
  const { patch } = useThreadActions(thread.id);
  return (
    <FormDialog
      onClose={onClose}
      title="Rename the thread"
      action="Rename"
      pending={patch.isPending}
      error={null}
      onSubmit={text => patch.mutate({ id: thread.id, title: text('title') }, { onSuccess: onClose })}
    >
      <Field label="Title">
        <Input name="title" required maxLength={200} defaultValue={thread.title} autoComplete="off" autoFocus />
      </Field>
    </FormDialog>
  );
}

function Delete({ id, open, onClose, onGone }: { id: string; open: boolean; onClose: () => void; onGone: () => void }) {
  const trpc = useTRPC();
  const queries = useQueryClient();
  const remove = useMutation(
    trpc.chat_delete_thread.mutationOptions({
      onSuccess: () => {
        toast.success('Thread deleted');
        onGone();
        return queries.invalidateQueries(trpc.chat_list_threads.pathFilter());
      },
    }),
  );
  return (
    <Confirm
      open={open}
      onOpenChange={next => !next && onClose()}
      title="Delete the thread?"
      action="Delete"
      pending={remove.isPending}
      error={remove.error ? readError(remove.error).message : null}
      onConfirm={() => remove.mutate({ id })}
    >
      Its messages are deleted for everyone, and an answer in progress is stopped. The logs of its runs are kept like
      those of all other runs.
    </Confirm>
  );
}
