'use client';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import type { PresetName } from '@/server/domains/webhooks/presets/catalog.ts';
import { type Outputs, useTRPC } from '../trpc/provider.tsx';
import { Checkbox } from '../ui/checkbox.tsx';
import { Field, Input, Textarea } from '../ui/field.tsx';
import { Select } from '../ui/select.tsx';
import { type InputObject, parseInput } from '../workflows/run-input.ts';

export type Webhook = Outputs['webhooks_get'];
/** The token whose user owns the runs: the token in the delivery, a stored token by its id, or a pasted token. */
export type Automation = { kind: 'sender' } | { kind: 'pat'; id: string } | { kind: 'pasted'; token: string };
export type WebhookDraft = {
  name: string;
  automation: Automation;
  payload: string;
  useDefaults: boolean;
  /** True if a delivery is answered with the output of its run. */
  answersOutput: boolean;
  requireTimestamp: boolean;
  preset: PresetName;
};

export const emptyDraft: WebhookDraft = {
  name: '',
  automation: { kind: 'sender' },
  payload: '',
  useDefaults: false,
  answersOutput: false,
  requireTimestamp: false,
  preset: 'baton',
};

export function draftOf(webhook: Webhook): WebhookDraft {
  const { trigger_payload, use_run_setup_defaults, respond } = webhook.extras;
  return {
    name: webhook.name,
    automation:
      webhook.automation_pat_id === null ? { kind: 'sender' } : { kind: 'pat', id: webhook.automation_pat_id },
    payload: trigger_payload ? JSON.stringify(trigger_payload, null, 2) : '',
    useDefaults: use_run_setup_defaults === true,
    answersOutput: respond === 'output',
    requireTimestamp: webhook.require_timestamp,
    preset: webhook.preset,
  };
}

type Extras = { use_run_setup_defaults?: boolean; trigger_payload?: InputObject; respond?: 'output' };

/** Returns the request fields for a draft, or its problem. */
export function extrasOf({
  payload,
  useDefaults,
  answersOutput,
}: WebhookDraft): { extras: Extras } | { problem: string } {
  const parsed = parseInput(payload);
  if ('problem' in parsed) return { problem: parsed.problem };
  const fixed = payload.trim() === '' ? {} : { trigger_payload: parsed.input };
  return {
    extras: {
      ...fixed,
      ...(useDefaults ? { use_run_setup_defaults: true } : {}),
      ...(answersOutput ? { respond: 'output' } : {}),
    },
  };
}

type Props = {
  draft: WebhookDraft;
  onChange: (draft: WebhookDraft) => void;
  /** The errors of the fields, by name. */
  problems: { name?: string | undefined; payload?: string | undefined; automation?: string | undefined };
  /** True for a new webhook, the only one for which a token can be pasted. */
  paste: boolean;
  /** The owner of the stored token, who may be another user. */
  automationEmail?: string | null;
  children?: ReactNode;
};

/** The fields of a webhook; `children` follow the name. */
export function WebhookFields({ draft, onChange, problems, paste, automationEmail, children }: Props) {
  const set = (patch: Partial<WebhookDraft>) => onChange({ ...draft, ...patch });
  return (
    <>
      <Field
        label="Name"
        required
        error={problems.name}
        hint="The system that sends deliveries, such as a shop, a form or a repository."
      >
        <Input
          value={draft.name}
          onChange={event => set({ name: event.target.value })}
          maxLength={200}
          autoComplete="off"
          // The first button of the dialog closes it, so the name takes the focus.
          autoFocus={paste}
        />
      </Field>
      {children}
      <AutomationChoice
        value={draft.automation}
        onChange={automation => set({ automation })}
        paste={paste}
        storedEmail={automationEmail ?? null}
        allowsSenderToken={draft.preset === 'baton'}
        problem={problems.automation}
      />
      <Field
        label="Fixed payload"
        optional
        error={problems.payload}
        hint="A JSON object. Fields of the posted payload override it."
      >
        <Textarea
          rows={3}
          spellCheck={false}
          className="font-mono text-xs"
          value={draft.payload}
          onChange={event => set({ payload: event.target.value })}
        />
      </Field>
      <Checkbox
        label="Merge the saved run-setup defaults"
        hint="Uses the defaults of the published version."
        checked={draft.useDefaults}
        onCheckedChange={useDefaults => set({ useDefaults })}
      />
      <Checkbox
        label="Respond with the output"
        hint="The response waits up to 30 seconds for the run to end, and contains its output."
        checked={draft.answersOutput}
        onCheckedChange={answersOutput => set({ answersOutput })}
      />
      {draft.preset === 'baton' ? (
        <Checkbox
          label="Require a timestamp"
          hint="Refuses deliveries that are replayed after more than five minutes."
          checked={draft.requireTimestamp}
          onCheckedChange={requireTimestamp => set({ requireTimestamp })}
        />
      ) : null}
    </>
  );
}

const SENDER = '';
const PASTED = 'pasted';

function AutomationChoice({
  value,
  onChange,
  paste,
  storedEmail,
  allowsSenderToken,
  problem,
}: {
  value: Automation;
  onChange: (value: Automation) => void;
  paste: boolean;
  storedEmail: string | null;
  /** True if deliveries carry the sender's own token, whose user can own the runs. */
  allowsSenderToken: boolean;
  problem: string | undefined;
}) {
  const trpc = useTRPC();
  const { data } = useQuery(trpc.pats_list.queryOptions({ limit: 200 }));
  const [stored] = useState(value.kind === 'pat' ? value.id : null);
  const usable = (data?.pats ?? []).filter(
    pat => pat.scopes.includes('workflow:run') && (pat.expires_at === null || Date.parse(pat.expires_at) > Date.now()),
  );
  const unlisted = stored !== null && !usable.some(pat => pat.id === stored);
  const options = [
    ...(allowsSenderToken ? [{ value: SENDER, label: 'The user whose token sends the delivery' }] : []),
    ...(unlisted ? [{ value: stored, label: `The stored token of ${storedEmail ?? 'someone else'}` }] : []),
    ...usable.map(pat => ({ value: pat.id, label: `${pat.display_name} (${pat.user_email})` })),
    ...(paste ? [{ value: PASTED, label: 'Paste a token…' }] : []),
  ];
  const choose = (chosen: string) =>
    onChange(
      chosen === SENDER
        ? { kind: 'sender' }
        : chosen === PASTED
          ? { kind: 'pasted', token: '' }
          : { kind: 'pat', id: chosen },
    );
  return (
    <>
      <Field
        label="Runs belong to"
        required={!allowsSenderToken}
        error={problem}
        hint={
          allowsSenderToken
            ? 'Every delivery carries its own token. This decides who the run is attributed to.'
            : 'The owner of this API key. The key must have the scopes that the workflow needs.'
        }
      >
        <Select
          placeholder={usable.length === 0 ? 'You have no API key with the scope workflow:run' : 'Choose an API key'}
          value={
            value.kind === 'sender'
              ? allowsSenderToken
                ? SENDER
                : undefined
              : value.kind === 'pasted'
                ? PASTED
                : value.id
          }
          options={options}
          onChange={choose}
        />
      </Field>
      {value.kind === 'pasted' ? (
        <Field label="Token" required hint="Only its ID is stored.">
          <Input
            type="password"
            autoComplete="off"
            placeholder="pat_…"
            value={value.token}
            onChange={event => onChange({ kind: 'pasted', token: event.target.value.trim() })}
          />
        </Field>
      ) : null}
    </>
  );
}
