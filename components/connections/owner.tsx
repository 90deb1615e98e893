'use client';
import { useMutation } from '@tanstack/react-query';
import { Building2, FolderClosed } from 'lucide-react';
import { usePermissions } from '../session/session.tsx';
import { useTRPC } from '../trpc/provider.tsx';
import { Badge } from '../ui/badge.tsx';
import { readError } from '../ui/errors.ts';
import { toast } from '../ui/toaster.tsx';
import type { Connection } from './connection-status.tsx';
import { useRefreshModels } from './use-refresh-models.ts';

type Owned = Pick<Connection, 'id' | 'name' | 'project_id'>;

/** Shows whether a connection or model key belongs to this project or to the workspace. */
export function Owner({ owned }: { owned: Pick<Connection, 'project_id'> }) {
  const shared = owned.project_id === null;
  const Icon = shared ? Building2 : FolderClosed;
  return (
    <Badge tone={shared ? 'info' : 'neutral'} icon={<Icon aria-hidden className="size-3" />}>
      {shared ? 'Workspace' : 'Project'}
    </Badge>
  );
}

/** Returns true if the user may change the connection or model key. Only administrators may change those of the workspace. */
export function useManageable({ project_id: projectId }: Pick<Connection, 'project_id'>): boolean {
  const { canWrite, isAdmin } = usePermissions();
  return projectId === null ? isAdmin : canWrite;
}

/** Shares a connection or model key with the workspace, or returns it to the current project; null if the user may not. */
export function useSharing(owned: Owned): { label: string; pending: boolean; share: () => void } | null {
  const trpc = useTRPC();
  const { isAdmin } = usePermissions();
  const refresh = useRefreshModels();
  const shared = owned.project_id === null;
  const patch = useMutation(
    trpc.connections_patch.mutationOptions({
      onSuccess: async ({ name, project_id: projectId }) => {
        toast.success(projectId === null ? `${name} is shared with the workspace` : `${name} belongs to this project`);
        await refresh();
      },
      onError: error => toast.error(readError(error).message),
    }),
  );
  if (!isAdmin) return null;
  return {
    label: shared ? 'Return to this project' : 'Share with workspace',
    pending: patch.isPending,
    share: () => patch.mutate({ id: owned.id, shared: !shared }),
  };
}
