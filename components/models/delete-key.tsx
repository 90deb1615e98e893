'use client';
import { useMutation } from '@tanstack/react-query';
import { DeleteUsed } from '../connections/delete-used.tsx';
import { useRefreshModels } from '../connections/use-refresh-models.ts';
import { useTRPC } from '../trpc/provider.tsx';
import { toast } from '../ui/toaster.tsx';
import { type ModelKey, providerLabels } from './provider-labels.ts';

/** Deletes a model key. First shows the workflows that use models of its provider, if any. */
export function DeleteKey({ modelKey, onClose }: { modelKey: ModelKey; onClose: () => void }) {
  const trpc = useTRPC();
  const refresh = useRefreshModels();
  const { id, name, provider } = modelKey;
  const remove = useMutation(
    trpc.llm_provider_keys_delete.mutationOptions({
      onSuccess: () => {
        onClose();
        toast.success(`${name} is deleted`);
        return refresh();
      },
    }),
  );
  return (
    <DeleteUsed
      id={id}
      name={name}
      note="This permanently deletes the key."
      hint="Their LLM steps fail, unless there is another key of the provider."
      usersOf={({ workflows, instances, profiles }) => ({
        heading: `Models of ${providerLabels[provider]} are used by`,
        users: [...workflows, ...instances, ...profiles].map(each => ({ id: each.id, text: each.name })),
      })}
      remove={remove}
      onClose={onClose}
    />
  );
}
