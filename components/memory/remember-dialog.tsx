'use client';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { usePermissions } from '../session/session.tsx';
import { useTRPC } from '../trpc/provider.tsx';
import { Field, Input, Textarea } from '../ui/field.tsx';
import { FormDialog } from '../ui/form-dialog.tsx';
import { Select } from '../ui/select.tsx';
import { toast } from '../ui/toaster.tsx';
import { KindSelect } from './edit-item.tsx';
import { useRefreshMemory } from './use-refresh-memory.ts';
import { type Kind, mayWrite, type Visibility, visibilities, visibilityLabels } from './words.ts';

/** The form with which a person adds an item, which is active at once. */
export function RememberDialog({ onClose }: { onClose: () => void }) {
  const trpc = useTRPC();
  const refresh = useRefreshMemory();
  const permissions = usePermissions();
  const [kind, setKind] = useState<Kind>('fact');
  const [visibility, setVisibility] = useState<Visibility>('private');
  const propose = useMutation(
    trpc.memory_propose_items.mutationOptions({
      onSuccess: ({ items }) => {
        onClose();
        toast.success(items[0]?.merged ? 'Already known' : 'Remembered');
        return refresh();
      },
    }),
  );
  return (
    <FormDialog
      onClose={onClose}
      title="Remember something"
      action="Remember"
      pending={propose.isPending}
      error={propose.error}
      onSubmit={text =>
        propose.mutate({
          items: [{ subject: text('subject'), text: text('text'), kind, visibility }],
          remember: true,
        })
      }
    >
      <Field label="Subject" hint="Who or what it is about, such as “office” or a person’s name.">
        <Input name="subject" required maxLength={200} autoComplete="off" />
      </Field>
      <Field label="Text">
        <Textarea name="text" required maxLength={2000} />
      </Field>
      <Field label="Kind">
        <KindSelect value={kind} onChange={setKind} />
      </Field>
      <Field label="Visible to">
        <Select<Visibility>
          value={visibility}
          options={visibilities
            .filter(value => mayWrite(value, permissions))
            .map(value => ({ value, label: visibilityLabels[value] }))}
          onChange={setVisibility}
        />
      </Field>
    </FormDialog>
  );
}
