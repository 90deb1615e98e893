'use client';
import { type FormEvent, useId } from 'react';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Field, Input } from '../ui/field.tsx';
import { FormError } from '../ui/states.tsx';

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
  const formId = useId();
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    onSubmit(String(new FormData(event.currentTarget).get('name') ?? '').trim());
  };
  return (
    <Dialog
      open={open}
      onOpenChange={next => !next && onClose()}
      title={title}
      size="sm"
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button variant="primary" type="submit" form={formId} pending={pending}>
            {action}
          </Button>
        </>
      }
    >
      <form id={formId} onSubmit={submit} className="flex flex-col gap-4">
        <FormError error={error} />
        <Field label="Name">
          <Input name="name" required maxLength={120} defaultValue={initial} autoComplete="off" />
        </Field>
      </form>
    </Dialog>
  );
}
