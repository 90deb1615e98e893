'use client';
import { useQuery } from '@tanstack/react-query';
import { Plus } from 'lucide-react';
import dynamic from 'next/dynamic';
import { useState } from 'react';
import type { JsonObject } from '@/server/platform/json.ts';
import { usePermissions } from '../../../session/session.tsx';
import { useTRPC } from '../../../trpc/provider.tsx';
import { Button } from '../../../ui/button.tsx';
import { Field, Input } from '../../../ui/field.tsx';
import { SearchSelect } from '../../../ui/search-select.tsx';
import { Select } from '../../../ui/select.tsx';
import { Skeleton } from '../../../ui/skeleton.tsx';
import { FormError } from '../../../ui/states.tsx';
import { useCompletion } from '../../code/use-completion.tsx';
import { explained } from '../../inspector/field-help.tsx';
import { withCurrent } from '../../inspector/pickers.tsx';
import type { StepFormProps } from '../../inspector/step-forms.ts';
import { FieldMessages } from '../field-message.tsx';
import { LineField } from '../line-field.tsx';
import type { FoundCredentials } from './curl/credentials.ts';
import { objectOf, withField } from './nested-fields.tsx';

export const loadCreate = () => import('../../../connections/create-connection.tsx');
export const CreateConnectionDialog = dynamic(() => loadCreate().then(module => module.CreateConnectionDialog), {
  ssr: false,
});

const TEMPLATE = '\u0001';

/** The credentials of the request: a connection, which can be created here, and the way in which its credentials are sent. */
export function AuthTab(props: StepFormProps) {
  const { step, set, readOnly, problemOf } = props;
  const { canWrite } = usePermissions();
  const [creating, setCreating] = useState(false);
  const completion = useCompletion(step.id, false);
  const present = typeof step.connection_id === 'string' ? step.connection_id : '';
  const [asText, setAsText] = useState(present.includes('{{'));
  const byTemplate = asText || present.includes('{{');
  const choose = (id: string) => {
    setAsText(id === TEMPLATE);
    if (id === TEMPLATE) return set({ connection_id: '{{input.connection_id}}' });
    set({ connection_id: id === '' ? undefined : id, ...(id === '' ? { auth: undefined } : {}) });
  };
  return (
    <>
      {canWrite ? (
        <div className="flex flex-col gap-1">
          <div className="flex items-end gap-2">
            <ConnectionPicker value={byTemplate ? TEMPLATE : present} readOnly={readOnly} onChange={choose} />
            {readOnly ? null : (
              <Button icon={<Plus aria-hidden className="size-3.5" />} onClick={() => setCreating(true)}>
                New
              </Button>
            )}
          </div>
          <p className="text-xs text-muted">Its secrets are encrypted, and not in the workflow.</p>
        </div>
      ) : (
        <Field label="Connection">
          <Input value={present} readOnly className="font-mono" />
        </Field>
      )}
      {byTemplate ? (
        <LineField
          label="Connection as a template"
          value={present}
          readOnly={readOnly}
          completion={completion}
          onChange={text => set({ connection_id: text === '' ? undefined : text })}
        />
      ) : null}
      {present === '' ? null : <SentAs {...props} />}
      <FieldMessages of={problemOf} names={['connection_id', 'auth']} />
      {creating ? (
        <CreateConnectionDialog
          onClose={() => setCreating(false)}
          onCreated={({ id }) => set({ connection_id: id })}
          start={{ origins: originText(step.url) }}
        />
      ) : null}
    </>
  );
}

/** Returns the origin of the server that the credentials are for. */
export const originText = (url: unknown): string =>
  typeof url === 'string' ? (/^https?:\/\/[^/?#{@]+(?=[/?#]|$)/i.exec(url)?.[0] ?? '') : '';

function ConnectionPicker({
  value,
  readOnly,
  onChange,
}: {
  value: string;
  readOnly: boolean;
  onChange: (id: string) => void;
}) {
  const trpc = useTRPC();
  const list = useQuery(trpc.connections_list.queryOptions({ limit: 200 }));
  if (list.error && list.data === undefined) return <FormError error={list.error} />;
  const offered = list.data?.connections.filter(({ service }) => service !== 'llm') ?? [];
  return (
    <Field label="Connection" className="min-w-0 flex-1">
      {list.data === undefined ? (
        <Skeleton className="h-8 w-full" />
      ) : (
        <SearchSelect
          value={value}
          disabled={readOnly}
          onChange={onChange}
          options={withCurrent(
            [
              { value: '', label: 'None' },
              ...offered.map(({ id, name, service }) => ({ value: id, label: name, hint: service })),
              { value: TEMPLATE, label: 'Choose with a template' },
            ],
            value,
          )}
        />
      )}
    </Field>
  );
}

type Sent = '' | 'bearer' | 'basic' | 'header' | 'query';
const WAYS: readonly { value: Sent; label: string }[] = [
  { value: '', label: 'Default: as the connection says' },
  { value: 'bearer', label: 'Bearer token' },
  { value: 'basic', label: 'Username and password' },
  { value: 'header', label: 'Headers' },
  { value: 'query', label: 'Parameter of the URL' },
];

function SentAs({ step, set, readOnly }: StepFormProps) {
  const auth = objectOf(step.auth);
  const type = WAYS.find(({ value }) => value === auth.type)?.value ?? '';
  const changeAuth = (next: JsonObject) => set({ auth: next });
  const text = (name: string, label: string, hint: string, required = false) => (
    <Field label={label} {...explained(hint, label)} required={required}>
      <Input
        value={typeof auth[name] === 'string' ? auth[name] : ''}
        readOnly={readOnly}
        onChange={({ target: { value } }) =>
          changeAuth(withField(auth, name, value === '' && !required ? undefined : value))
        }
      />
    </Field>
  );
  return (
    <>
      <Field
        label="Sent as"
        {...explained(
          'By default a username and a password are sent as basic authentication, everything else as a bearer token.',
          'Sent as',
        )}
      >
        <Select
          value={type}
          options={WAYS}
          disabled={readOnly}
          onChange={next =>
            next === ''
              ? set({ auth: undefined })
              : changeAuth(next === 'query' ? { type: next, name: 'api_key' } : { type: next })
          }
        />
      </Field>
      {type === 'header'
        ? text(
            'name',
            'Header',
            'Without a name, each credential of the connection is sent as the header of its own name.',
          )
        : null}
      {type === 'query' ? text('name', 'Parameter', 'Such as api_key', true) : null}
      {type === 'query' || (type === 'header' && auth.name !== undefined)
        ? text('credential', 'Credential', 'Which of the connection. By default its api_key, token or access_token.')
        : null}
    </>
  );
}

/** Returns the `auth` of a step for credentials found in a curl command. */
export const authOf = ({ auth }: FoundCredentials): JsonObject | undefined =>
  auth === undefined ? undefined : { ...auth };
