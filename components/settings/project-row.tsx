'use client';
import { useMutation } from '@tanstack/react-query';
import { Pencil, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { usePermissions, useSession } from '../session/session.tsx';
import { type Outputs, useTRPC } from '../trpc/provider.tsx';
import { Badge } from '../ui/badge.tsx';
import { Button, IconButton } from '../ui/button.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { CopyId } from '../ui/copy.tsx';
import { readError } from '../ui/errors.ts';
import { Td, Tr } from '../ui/table.tsx';
import { RelativeTime } from '../ui/time.tsx';
import { toast } from '../ui/toaster.tsx';
import { ProjectNameDialog } from './project-name-dialog.tsx';
import { useRefreshProjects } from './use-refresh-projects.ts';

type Project = Outputs['projects_list']['projects'][number];

export function ProjectRow({ project }: { project: Project }) {
  const { me, scope, switchTo } = useSession();
  const { isAdmin } = usePermissions();
  const [renaming, setRenaming] = useState(false);
  const [deleting, setDeleting] = useState(false);
  const current = project.id === me.project.id;
  return (
    <Tr>
      <Td className="font-medium">
        <span className="flex items-center gap-2">
          {project.name}
          {current ? <Badge tone="accent">Current</Badge> : null}
        </span>
      </Td>
      <Td>
        <CopyId id={project.id} />
      </Td>
      <Td>
        <RelativeTime at={project.created_at} />
      </Td>
      <Td className="text-right whitespace-nowrap">
        {current ? null : (
          <Button size="sm" className="mr-1" onClick={() => switchTo({ tenant: scope.tenant, project: project.id })}>
            Switch
          </Button>
        )}
        {isAdmin ? (
          <>
            <IconButton label={`Rename ${project.name}`} size="sm" onClick={() => setRenaming(true)}>
              <Pencil aria-hidden className="size-3.5" />
            </IconButton>
            <IconButton label={`Delete ${project.name}`} size="sm" onClick={() => setDeleting(true)}>
              <Trash2 aria-hidden className="size-3.5" />
            </IconButton>
            <Rename project={project} open={renaming} onClose={() => setRenaming(false)} />
            <Delete project={project} open={deleting} onOpenChange={setDeleting} />
          </>
        ) : null}
      </Td>
    </Tr>
  );
}

function Rename({ project, open, onClose }: { project: Project; open: boolean; onClose: () => void }) {
  const trpc = useTRPC();
  const refresh = useRefreshProjects();
  const rename = useMutation(
    trpc.projects_update.mutationOptions({
      onSuccess: renamed => {
        onClose();
        toast.success(`Renamed to ${renamed.name}`);
        return refresh();
      },
    }),
  );
  return (
    <ProjectNameDialog
      open={open}
      onClose={() => {
        onClose();
        rename.reset();
      }}
      title={`Rename ${project.name}`}
      action="Rename"
      initial={project.name}
      pending={rename.isPending}
      error={rename.error}
      onSubmit={name => rename.mutate({ id: project.id, name })}
    />
  );
}

function Delete({
  project,
  open,
  onOpenChange,
}: {
  project: Project;
  open: boolean;
  onOpenChange: (open: boolean) => void;
}) {
  const trpc = useTRPC();
  const refresh = useRefreshProjects();
  const { me } = useSession();
  const remove = useMutation(
    trpc.projects_delete.mutationOptions({
      onSuccess: () => {
        onOpenChange(false);
        toast.success(`${project.name} is deleted`);
        // The current project is gone, so the server chooses another one.
        if (project.id === me.project.id) return window.location.assign('/workflows');
        return refresh().then(() => undefined);
      },
    }),
  );
  return (
    <Confirm
      open={open}
      onOpenChange={onOpenChange}
      title={`Delete ${project.name}?`}
      action="Delete"
      pending={remove.isPending}
      error={remove.error ? readError(remove.error).message : null}
      onConfirm={() => remove.mutate({ id: project.id })}
    >
      Only an empty project can be deleted. Its roles and API keys are deleted with it.
    </Confirm>
  );
}
