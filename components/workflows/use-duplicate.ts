'use client';
import { useMutation } from '@tanstack/react-query';
import { useRouter } from 'next/navigation';
import { type Inputs, useTRPCClient } from '../trpc/provider.tsx';
import { toast, toastError } from '../ui/toaster.tsx';
import { copyName } from './copy-name.ts';

/** Returns the mutation that copies a workflow's draft and opens the copy. The copy is a draft without published versions. */
export function useDuplicate() {
  const client = useTRPCClient();
  const router = useRouter();
  return useMutation({
    mutationFn: async ({ id }: { id: string }) => {
      const { name, description, graph, run_setup, folder, tags } = await client.workflows_get.query({ id });
      return client.workflows_create.mutate({
        name: copyName(name),
        description,
        graph: graph as Inputs['workflows_create']['graph'],
        run_setup,
        folder,
        tags,
      });
    },
    onSuccess: created => {
      toast.success(`${created.name} is created`);
      router.push(`/workflows/${created.id}`);
    },
    onError: toastError,
  });
}
