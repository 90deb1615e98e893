'use client';
import { type FormEvent, type ReactNode, useId } from 'react';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { type FieldText, readFields } from './read-fields.ts';
import { FormError } from './states.tsx';

/** A dialog with one form: an error above the fields, and Cancel and a submit button below. */
export function FormDialog({
  open = true,
  onClose,
  title,
  description,
  size,
  action,
  icon,
  pending,
  disabled,
  error,
  noValidate,
  onSubmit,
  children,
}: {
  open?: boolean;
  onClose: () => void;
  title: string;
  description?: string;
  size?: 'sm' | 'md' | 'lg';
  /** The verb on the button: "Create", not "OK". */
  action: string;
  icon?: ReactNode;
  pending: boolean;
  disabled?: boolean;
  error: unknown;
  /** Turns off the browser's messages, for a form that shows its own. */
  noValidate?: boolean;
  onSubmit: (text: FieldText) => void;
  children: ReactNode;
}) {
  const formId = useId();
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    onSubmit(readFields(event.currentTarget));
  };
  return (
    <Dialog
      open={open}
      onOpenChange={next => !next && onClose()}
      title={title}
      description={description}
      size={size}
      footer={
        <FormActions
          formId={formId}
          onCancel={onClose}
          action={action}
          icon={icon}
          pending={pending}
          disabled={disabled}
        />
      }
    >
      <form id={formId} noValidate={noValidate} onSubmit={submit} className="flex flex-col gap-4">
        <FormError error={error} />
        {children}
      </form>
    </Dialog>
  );
}

/** The footer of a dialog that holds the form `formId`. */
export function FormActions({
  formId,
  onCancel,
  action,
  icon,
  pending,
  disabled,
}: {
  formId: string;
  onCancel: () => void;
  action: string;
  icon?: ReactNode;
  pending: boolean;
  disabled?: boolean;
}) {
  return (
    <>
      <Button onClick={onCancel}>Cancel</Button>
      <Button variant="primary" type="submit" form={formId} icon={icon} pending={pending} disabled={disabled}>
        {action}
      </Button>
    </>
  );
}
