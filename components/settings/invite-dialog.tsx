'use client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useId, useState } from 'react';
import { useSession } from '../session/session.tsx';
import { useTRPC } from '../trpc/provider.tsx';
import { Button } from '../ui/button.tsx';
import { Checkbox } from '../ui/checkbox.tsx';
import { CopyField } from '../ui/copy.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Field, Input } from '../ui/field.tsx';
import { FormActions } from '../ui/form-dialog.tsx';
import { readFields } from '../ui/read-fields.ts';
import { Select } from '../ui/select.tsx';
import { FormError } from '../ui/states.tsx';
import { type ProjectRole, projectRoleOptions } from './roles.ts';

/** Creates an invitation and shows its link once. */
export function InviteDialog({ open, onClose }: { open: boolean; onClose: () => void }) {
  const trpc = useTRPC();
  const queries = useQueryClient();
  const { me } = useSession();
  const formId = useId();
  const [role, setRole] = useState<ProjectRole>('project_contributor');
  const [admin, setAdmin] = useState(false);
  const invite = useMutation(
    trpc.invitations_create.mutationOptions({
      onSuccess: () => queries.invalidateQueries(trpc.invitations_list.queryFilter()),
    }),
  );
  const close = () => {
    onClose();
    invite.reset();
    setRole('project_contributor');
    setAdmin(false);
  };
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const email = readFields(event.currentTarget)('email');
    invite.mutate({ email, role, tenant_admin: admin });
  };
  if (invite.data)
    return (
      <Dialog
        open={open}
        onOpenChange={close}
        title="Invitation created"
        footer={
          <Button variant="primary" onClick={close}>
            Done
          </Button>
        }
      >
        <p className="mb-3 text-sm text-muted">
          Send this link to {invite.data.email}. It is shown once and works for seven days.
        </p>
        <CopyField label="Invitation link" value={invite.data.accept_url} />
      </Dialog>
    );
  return (
    <Dialog
      open={open}
      onOpenChange={next => !next && close()}
      title="Invite a member"
      description={`To the project ${me.project.name}.`}
      footer={<FormActions formId={formId} onCancel={close} action="Create link" pending={invite.isPending} />}
    >
      <form id={formId} onSubmit={submit} className="flex flex-col gap-4">
        <FormError error={invite.error} />
        <Field label="Email">
          <Input name="email" type="email" required autoComplete="off" />
        </Field>
        <Field label="Role">
          <Select<ProjectRole> value={role} options={projectRoleOptions} onChange={setRole} />
        </Field>
        <Checkbox
          label="Workspace admin"
          hint="Manages members, projects and billing; contributor on every project."
          checked={admin}
          onCheckedChange={setAdmin}
        />
      </form>
    </Dialog>
  );
}
