import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useTRPC } from '../trpc/provider.tsx';
import { toast, toastError } from '../ui/toaster.tsx';
import { pathLabel } from './folder-paths.ts';

/** Returns a function that reads the lists of workflows and of folders again. */
export function useRefreshWorkflows(): () => Promise<unknown> {
  const trpc = useTRPC();
  const queries = useQueryClient();
  return () =>
    Promise.all(
      [trpc.workflows_list.pathFilter(), trpc.workflows_list_folders.pathFilter(), trpc.workflows_get.pathFilter()].map(
        filter => queries.invalidateQueries(filter),
      ),
    );
}

/** Returns the mutation that moves workflows into a folder without confirmation, as after a drop. */
export function useMoveWorkflows() {
  const trpc = useTRPC();
  const refresh = useRefreshWorkflows();
  return useMutation(
    trpc.workflows_organize.mutationOptions({
      onSuccess: ({ workflows }) => {
        const folder = workflows[0]?.folder ?? '';
        const what = workflows.length === 1 ? 'The workflow is' : `${workflows.length} workflows are`;
        toast.success(folder === '' ? `${what} in no folder now` : `${what} in ${pathLabel(folder)} now`);
        return refresh();
      },
      onError: toastError,
    }),
  );
}
