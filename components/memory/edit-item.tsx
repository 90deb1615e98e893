'use client';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useTRPC } from '../trpc/provider.tsx';
import { isDay } from '../ui/calendar-day.ts';
import { DateField } from '../ui/date-field.tsx';
import { Field, Input, Textarea } from '../ui/field.tsx';
import { FormDialog } from '../ui/form-dialog.tsx';
import { Select } from '../ui/select.tsx';
import { useRefreshMemory } from './use-refresh-memory.ts';
import { type Item, type Kind, kindLabels, kinds } from './words.ts';

/** Edits the text and the expiry of an item. A changed text counts as the editor's own and needs no evidence. */
export function EditItemDialog({
  item,
  action = 'Save',
  onSaved,
  onClose,
}: {
  item: Item;
  action?: string;
  onSaved?: (item: Item) => void;
  onClose: () => void;
}) {
  const trpc = useTRPC();
  const refresh = useRefreshMemory();
  const [subject, setSubject] = useState(item.subject);
  const [text, setText] = useState(item.text);
  const [kind, setKind] = useState<Kind>(item.kind);
  const before = item.expires_at?.slice(0, 10) ?? '';
  const [until, setUntil] = useState(before);
  const patch = useMutation(
    trpc.memory_items_patch.mutationOptions({
      onSuccess: () => {
        onSaved?.(item);
        onClose();
        return refresh();
      },
    }),
  );
  const submit = () =>
    patch.mutate({
      id: item.id,
      ...(subject === item.subject ? {} : { subject }),
      ...(text === item.text ? {} : { text }),
      ...(kind === item.kind ? {} : { kind }),
      ...(until === before ? {} : { expires_at: isDay(until) ? `${until}T23:59:59.999Z` : null }),
    });
  return (
    <FormDialog
      onClose={onClose}
      title="Edit memory"
      action={action}
      pending={patch.isPending}
      error={patch.error}
      onSubmit={submit}
    >
      <Field label="Subject" hint="Who or what it is about. Only an item with the same subject can replace it.">
        <Input value={subject} required maxLength={200} onChange={event => setSubject(event.target.value)} />
      </Field>
      <Field label="Text">
        <Textarea value={text} required maxLength={2000} onChange={event => setText(event.target.value)} />
      </Field>
      <Field label="Kind">
        <KindSelect value={kind} onChange={setKind} />
      </Field>
      <Field label="Expires" hint="The last day on which search finds it, in UTC. Empty: never expires." optional>
        <DateField value={until} onChange={setUntil} className="w-40" />
      </Field>
    </FormDialog>
  );
}

export function KindSelect({ value, onChange }: { value: Kind; onChange: (kind: Kind) => void }) {
  return (
    <Select<Kind>
      value={value}
      options={kinds.map(each => ({ value: each, label: kindLabels[each] }))}
      onChange={onChange}
    />
  );
}
