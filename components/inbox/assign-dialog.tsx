'use client';
import { useQuery } from '@tanstack/react-query';
import { useId } from 'react';
import { useSession } from '../session/session.tsx';
import { inScope, useTRPC } from '../trpc/provider.tsx';
import { Field, Input } from '../ui/field.tsx';
import { FormDialog } from '../ui/form-dialog.tsx';

/** Asks whom to assign a task to. Suggests the first hundred members of its project who may answer it. */
export function AssignDialog({
  project,
  open,
  pending,
  error,
  onClose,
  onAssign,
}: {
  project: string;
  open: boolean;
  pending: boolean;
  error: unknown;
  onClose: () => void;
  onAssign: (assignees: string[]) => void;
}) {
  const trpc = useTRPC();
  const { scope } = useSession();
  const listId = useId();
  const members = useQuery(
    trpc.members_list.queryOptions(
      { limit: 100 },
      { enabled: open, trpc: { context: inScope({ tenant: scope.tenant, project }) } },
    ),
  );
  const people = (members.data?.members ?? []).filter(each => each.tenant_admin || each.role === 'project_contributor');
  return (
    <FormDialog
      open={open}
      onClose={onClose}
      title="Assign task"
      description="Only the assignees and administrators can then answer it. Assignees are notified as they chose."
      action="Assign"
      pending={pending}
      error={error}
      onSubmit={text =>
        onAssign(
          text('people')
            .split(/[\s,;]+/)
            .filter(Boolean),
        )
      }
    >
      <Field label="Email" hint="A contributor to the project or an administrator. Separate several with commas.">
        <Input name="people" list={listId} required autoComplete="off" maxLength={4000} />
      </Field>
      <datalist id={listId}>
        {people.map(each => (
          <option key={each.user_id} value={each.email}>
            {each.name}
          </option>
        ))}
      </datalist>
    </FormDialog>
  );
}
