'use client';
import { useMutation } from '@tanstack/react-query';
import { useTRPC } from '../trpc/provider.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { readError } from '../ui/errors.ts';
import { toast } from '../ui/toaster.tsx';
import { useRefreshMemory } from './use-refresh-memory.ts';
import type { Item } from './words.ts';

/** Deletes an item for good. */
export function ForgetItem({
  item,
  onCancel,
  onForgotten,
}: {
  item: Item;
  onCancel: () => void;
  onForgotten: () => void;
}) {
  const trpc = useTRPC();
  const refresh = useRefreshMemory();
  const remove = useMutation(
    trpc.memory_items_delete.mutationOptions({
      onSuccess: () => {
        onForgotten();
        toast.success('Forgotten');
        return refresh();
      },
    }),
  );
  return (
    <Confirm
      open
      onOpenChange={open => !open && onCancel()}
      title="Forget this?"
      action="Forget"
      pending={remove.isPending}
      error={remove.error ? readError(remove.error).message : null}
      onConfirm={() => remove.mutate({ id: item.id })}
    >
      <p className="wrap-anywhere">“{item.text}”</p>
      <p className="mt-2">
        The item, its evidence and its embedding are permanently deleted. Reject it instead to keep it from being
        proposed again.
      </p>
    </Confirm>
  );
}
