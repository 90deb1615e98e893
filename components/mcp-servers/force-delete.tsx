'use client';
import { type ReactNode, useState } from 'react';
import { Checkbox } from '../ui/checkbox.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { readError } from '../ui/errors.ts';

/** Asks before a server or an instance is deleted. It stays open until the deletion opens another page. */
export function ForceDelete({
  id,
  name,
  force,
  remove,
  onClose,
  children,
}: {
  id: string;
  name: string;
  /** The option to delete despite dependents; null if there are none. */
  force: { label: string; hint: string } | null;
  remove: {
    isPending: boolean;
    isSuccess: boolean;
    error: unknown;
    mutate: (input: { id: string; force: boolean }) => void;
  };
  onClose: () => void;
  children: ReactNode;
}) {
  const [forced, setForced] = useState(false);
  return (
    <Confirm
      open
      onOpenChange={open => !open && onClose()}
      title={`Delete ${name}?`}
      action="Delete"
      pending={remove.isPending || remove.isSuccess}
      error={remove.error ? readError(remove.error).message : null}
      onConfirm={() => remove.mutate({ id, force: forced })}
    >
      {children}
      {force === null ? null : (
        <div className="mt-3">
          <Checkbox {...force} checked={forced} onCheckedChange={setForced} />
        </div>
      )}
    </Confirm>
  );
}
