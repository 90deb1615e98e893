'use client';
import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useId, useState } from 'react';
import { PRESETS, type PresetName } from '@/server/domains/webhooks/presets/catalog.ts';
import { type Inputs, useTRPC } from '../trpc/provider.tsx';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Field, Input } from '../ui/field.tsx';
import { FormActions } from '../ui/form-dialog.tsx';
import { Select } from '../ui/select.tsx';
import { FormError } from '../ui/states.tsx';
import { useDebounced } from '../ui/use-debounced.ts';
import { type PresetDraft, PresetFields } from './preset-fields.tsx';
import { SecretShown } from './secret-shown.tsx';
import { emptyDraft, extrasOf, type WebhookDraft, WebhookFields } from './webhook-form.tsx';

type Props = { onClose: () => void };

/** Creates a webhook and shows its signing secret once. */
export function CreateWebhookDialog({ onClose }: Props) {
  const trpc = useTRPC();
  const queries = useQueryClient();
  const formId = useId();
  const [draft, setDraft] = useState<Draft>({ ...emptyDraft, username: '', secret: '' });
  const [workflow, setWorkflow] = useState<string>();
  const [problems, setProblems] = useState<Problems>({});
  const create = useMutation(
    trpc.webhooks_create.mutationOptions({
      onSuccess: () => queries.invalidateQueries(trpc.webhooks_list.queryFilter()),
    }),
  );
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const read = readDraft(draft, workflow);
    setProblems('input' in read ? {} : read.problems);
    if ('input' in read) create.mutate(read.input);
  };
  if (create.data) {
    const { subscription, signing_secret, verify_token = null, ingress_url } = create.data;
    return (
      <Dialog
        open
        size="lg"
        // Escape or a stray click must not close the dialog: the secret is shown only here.
        onOpenChange={() => {}}
        title={`${subscription.name} is ready`}
        footer={
          <Button variant="primary" onClick={onClose}>
            {signing_secret === null && verify_token === null ? 'Done' : 'I have copied it'}
          </Button>
        }
      >
        <SecretShown
          preset={subscription.preset}
          username={subscription.username}
          url={ingress_url}
          secret={signing_secret}
          verifyToken={verify_token}
          note={noteOf(subscription.preset, signing_secret !== null)}
        />
      </Dialog>
    );
  }
  return (
    <Dialog
      open
      onOpenChange={next => !next && onClose()}
      title="Create webhook"
      description="Lets another system start a workflow with a signed request."
      footer={<FormActions formId={formId} onCancel={onClose} action="Create" pending={create.isPending} />}
    >
      <form id={formId} noValidate onSubmit={submit} className="flex flex-col gap-4">
        <FormError error={create.error} />
        <WebhookFields draft={draft} onChange={next => setDraft({ ...draft, ...next })} problems={problems} paste>
          <WorkflowChoice value={workflow} onChange={setWorkflow} problem={problems.workflow} />
          <PresetFields
            draft={draft}
            onChange={change => setDraft({ ...draft, ...change, requireTimestamp: false })}
            problems={problems}
          />
        </WebhookFields>
      </form>
    </Dialog>
  );
}

type Draft = WebhookDraft & PresetDraft;
type Problems = { name?: string; payload?: string; workflow?: string; automation?: string; username?: string };

function readDraft(
  draft: Draft,
  workflow: string | undefined,
): { input: Inputs['webhooks_create'] } | { problems: Problems } {
  const { automation, preset, username, secret } = draft;
  const read = extrasOf(draft);
  const name = draft.name.trim();
  const lacksToken = preset !== 'baton' && automation.kind === 'sender';
  const lacksUser = preset === 'basic' && username.trim() === '';
  if (name === '' || workflow === undefined || 'problem' in read || lacksToken || lacksUser) {
    const problems: Problems = {
      ...(name === '' ? { name: 'Enter a name.' } : {}),
      ...(workflow === undefined ? { workflow: 'Choose a workflow.' } : {}),
      ...('problem' in read ? { payload: read.problem } : {}),
      ...(lacksToken ? { automation: 'Choose an API key, because the sender cannot send one.' } : {}),
      ...(lacksUser ? { username: 'Enter a username.' } : {}),
    };
    return { problems };
  }
  return {
    input: {
      workflow_id: workflow,
      name,
      extras: read.extras,
      require_timestamp: draft.requireTimestamp,
      preset,
      ...(preset === 'basic' ? { username: username.trim() } : {}),
      ...(secret === '' ? {} : { signing_secret: secret.trim() }),
      ...(automation.kind === 'pat' ? { automation_pat_id: automation.id } : {}),
      ...(automation.kind === 'pasted' ? { automation_bearer: automation.token } : {}),
    },
  };
}

function noteOf(preset: PresetName, hasNewSecret: boolean): string {
  const { secretSource } = PRESETS[preset];
  if (hasNewSecret) {
    const what = PRESETS[preset].secretInAddress ? 'address' : preset === 'basic' ? 'password' : 'signing secret';
    return `Copy the ${what} now. It is not shown again. If you lose it, rotate it.`;
  }
  return secretSource === 'sender'
    ? 'Give this address to the sender. If you have not stored its signing secret yet, do so on the page of the webhook.'
    : 'Give this address to the sender.';
}

function WorkflowChoice({
  value,
  onChange,
  problem,
}: {
  value: string | undefined;
  onChange: (id: string) => void;
  problem: string | undefined;
}) {
  const trpc = useTRPC();
  const [search, setSearch] = useState('');
  const q = useDebounced(search.trim(), 250);
  const { data } = useQuery(
    trpc.workflows_list.queryOptions(
      { limit: 100, graphs: false, ...(q ? { q } : {}) },
      { placeholderData: keepPreviousData },
    ),
  );
  const workflows = data?.workflows ?? [];
  return (
    <>
      {data?.next_cursor || search ? (
        <Input
          type="search"
          aria-label="Search workflows"
          placeholder="Search workflows"
          value={search}
          onChange={event => setSearch(event.target.value)}
        />
      ) : null}
      <Field label="Workflow" required error={problem} hint="Deliveries run its latest published version.">
        <Select
          value={value}
          placeholder={data && workflows.length === 0 ? 'No workflows yet' : 'Choose a workflow'}
          disabled={workflows.length === 0}
          options={workflows.map(({ id, name, latest_version }) => ({
            value: id,
            label: latest_version === null ? `${name} (not published yet)` : name,
          }))}
          onChange={onChange}
        />
      </Field>
    </>
  );
}
