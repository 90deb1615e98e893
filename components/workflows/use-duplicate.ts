'use client';
import { useRouter } from 'next/navigation';
import { type Inputs, useTRPCClient } from '../trpc/provider.tsx';
import { toast, toastError } from '../ui/toaster.tsx';
import { copyName } from './copy-name.ts';

/** Returns a function that copies a workflow's draft and opens the copy. The copy is a draft without published versions. */
export function useDuplicate(): (id: string) => Promise<void> {
  const client = useTRPCClient();
  const router = useRouter();
  return async id => {
    try {
      const { name, description, graph, run_setup, folder, tags } = await client.workflows_get.query({ id });
      const created = await client.workflows_create.mutate({
        name: copyName(name),
        description,
        graph: graph as Inputs['workflows_create']['graph'],
        run_setup,
        folder,
        tags,
      });
      toast.success(`${created.name} is created`);
      router.push(`/workflows/${created.id}`);
    } catch (error) {
      toastError(error);
    }
  };
}
