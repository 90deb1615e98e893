'use client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useId, useState } from 'react';
import { DAY_MS } from '@/server/platform/clock.ts';
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
import { type ScopeName, scopeList } from './scopes.ts';

const expiries = [
  { value: '30', label: 'In 30 days' },
  { value: '90', label: 'In 90 days' },
  { value: '365', label: 'In a year' },
  { value: '', label: 'Never' },
] as const;
type Expiry = (typeof expiries)[number]['value'];
const defaultScopes: ScopeName[] = ['workflow:read', 'workflow:run'];

/** Creates a key and shows it once. */
export function CreateApiKeyDialog({ open, onClose }: { open: boolean; onClose: () => void }) {
  const trpc = useTRPC();
  const queries = useQueryClient();
  const { me } = useSession();
  const formId = useId();
  const [scopes, setScopes] = useState<ScopeName[]>(defaultScopes);
  const [expiry, setExpiry] = useState<Expiry>('90');
  const create = useMutation(
    trpc.pats_create.mutationOptions({
      onSuccess: () => queries.invalidateQueries(trpc.pats_list.queryFilter()),
    }),
  );
  const close = () => {
    onClose();
    create.reset();
    setScopes(defaultScopes);
    setExpiry('90');
  };
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const display_name = readFields(event.currentTarget)('name');
    const expires = expiry ? { expires_at: new Date(Date.now() + Number(expiry) * DAY_MS).toISOString() } : {};
    create.mutate({ display_name, scopes, ...expires });
  };
  if (create.data)
    return (
      <Dialog
        open={open}
        // Escape or a stray click must not close the dialog: the key is shown only here.
        onOpenChange={() => {}}
        title="API key created"
        footer={
          <Button variant="primary" onClick={close}>
            I have copied the key
          </Button>
        }
      >
        <p className="mb-3 text-sm text-muted">
          Copy {create.data.display_name} now and keep it safe. Anyone who has it can act as you.
        </p>
        <CopyField label="API key" value={create.data.token} />
      </Dialog>
    );
  return (
    <Dialog
      open={open}
      onOpenChange={next => !next && close()}
      title="Create API key"
      description={`For ${me.tenant.name} / ${me.project.name}, acting as you.`}
      footer={
        <FormActions
          formId={formId}
          onCancel={close}
          action="Create"
          pending={create.isPending}
          disabled={scopes.length === 0}
        />
      }
    >
      <form id={formId} onSubmit={submit} className="flex flex-col gap-4">
        <FormError error={create.error} />
        <Field label="Name" hint="Where you will use it, such as a script or a pipeline.">
          <Input name="name" required maxLength={120} autoComplete="off" />
        </Field>
        <Field label="Expires">
          <Select<Expiry> value={expiry} options={expiries} onChange={setExpiry} />
        </Field>
        <ScopeChoice chosen={scopes} onChange={setScopes} />
      </form>
    </Dialog>
  );
}

function ScopeChoice({ chosen, onChange }: { chosen: ScopeName[]; onChange: (scopes: ScopeName[]) => void }) {
  const all = chosen.length === scopeList.length;
  return (
    <fieldset>
      <legend className="mb-1.5 flex w-full items-center justify-between text-sm font-medium">
        Scopes
        <Button size="sm" variant="ghost" onClick={() => onChange(all ? [] : scopeList.map(([scope]) => scope))}>
          {all ? 'None' : 'All'}
        </Button>
      </legend>
      <div className="grid gap-2 sm:grid-cols-2">
        {scopeList.map(([scope, meaning]) => (
          <Checkbox
            key={scope}
            label={<code>{scope}</code>}
            hint={meaning}
            checked={chosen.includes(scope)}
            onCheckedChange={on => onChange(on ? [...chosen, scope] : chosen.filter(each => each !== scope))}
          />
        ))}
      </div>
    </fieldset>
  );
}
