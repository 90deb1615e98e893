'use client';
import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { useTRPC } from '../trpc/provider.tsx';
import { toastError } from '../ui/toaster.tsx';
import { RunDialog } from './run-dialog.tsx';

type Props = { workflowId: string | null; onClose: () => void };

/** The dialog that starts a run of a listed workflow. The list has no graphs, so the dialog opens once the workflow has been read. */
export function StartRunDialog({ workflowId, onClose }: Props) {
  const trpc = useTRPC();
  const enabled = workflowId !== null;
  const { data, error } = useQuery(trpc.workflows_get.queryOptions({ id: workflowId ?? '' }, { enabled }));
  useEffect(() => {
    if (error === null) return;
    toastError(error);
    onClose();
  }, [error, onClose]);
  return <RunDialog workflow={enabled ? (data ?? null) : null} onClose={onClose} />;
}
