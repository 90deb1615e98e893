'use client';
import { Field, Input } from '../ui/field.tsx';
import { FormDialog } from '../ui/form-dialog.tsx';

/** Asks for a project's name, to create or to rename. */
export function ProjectNameDialog({
  open,
  onClose,
  title,
  action,
  initial,
  pending,
  error,
  onSubmit,
}: {
  open: boolean;
  onClose: () => void;
  title: string;
  action: string;
  initial: string;
  pending: boolean;
  error: unknown;
  onSubmit: (name: string) => void;
}) {
  return (
    <FormDialog
      open={open}
      onClose={onClose}
      title={title}
      size="sm"
      action={action}
      pending={pending}
      error={error}
      onSubmit={text => onSubmit(text('name'))}
    >
      <Field label="Name">
        <Input name="name" required maxLength={120} defaultValue={initial} autoComplete="off" />
      </Field>
    </FormDialog>
  );
}
