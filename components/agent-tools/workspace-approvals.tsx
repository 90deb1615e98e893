'use client';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { usePermissions } from '../session/session.tsx';
import { type Outputs, useTRPC } from '../trpc/provider.tsx';
import { Card } from '../ui/card.tsx';
import { Field } from '../ui/field.tsx';
import { Select } from '../ui/select.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { FormError } from '../ui/states.tsx';
import { toast } from '../ui/toaster.tsx';

type Settings = Outputs['agents_get_settings'];
type Approval = NonNullable<Settings['read_approval']>;

const FIELDS = {
  read_approval: { label: 'Read-only tools', hint: 'If not set, called without asking.' },
  write_approval: { label: 'Tools that make changes', hint: 'If not set, they ask.' },
  risky_approval: {
    label: 'Destructive or open-world tools',
    hint: 'In addition to the two above. Destructive tools always ask.',
  },
} as const;
const OPTIONS: readonly { value: Approval | ''; label: string }[] = [
  { value: '', label: 'Not set' },
  { value: 'auto', label: 'Auto' },
  { value: 'ask', label: 'Ask' },
  { value: 'deny', label: 'Never' },
];
const LABELS = new Map(OPTIONS.map(({ value, label }) => [value, label]));
const names = Object.keys(FIELDS) as (keyof typeof FIELDS)[];

/** Edits the workspace's approval settings for agents' tools. Each choice is saved at once. */
export function WorkspaceApprovals() {
  const { isAdmin } = usePermissions();
  const trpc = useTRPC();
  const queries = useQueryClient();
  const settings = useQuery(trpc.agents_get_settings.queryOptions({}));
  const save = useMutation(
    trpc.agents_patch_settings.mutationOptions({
      onSuccess: saved => {
        queries.setQueryData(trpc.agents_get_settings.queryKey({}), saved);
        toast.success('Approvals saved');
      },
    }),
  );
  return (
    <Card
      title="Agent approvals"
      description="The default for tools without their own approval setting, and the minimum for all others."
    >
      <div className="flex flex-col items-start gap-4">
        <FormError error={save.error ?? settings.error} />
        {settings.isPending ? <Skeleton className="h-40 w-full" /> : null}
        {settings.data === undefined
          ? null
          : names.map(name => (
              <Field key={name} label={FIELDS[name].label} hint={FIELDS[name].hint} className="w-full sm:w-80">
                <Select
                  value={settings.data[name] ?? ''}
                  options={OPTIONS}
                  disabled={!isAdmin || save.isPending}
                  onChange={value => save.mutate({ [name]: value === '' ? null : value })}
                />
              </Field>
            ))}
      </div>
    </Card>
  );
}

/** Shows the workspace's approval settings beside an agent's tools; renders nothing if none are set. */
export function WorkspaceApprovalsNote() {
  const trpc = useTRPC();
  const { data } = useQuery(trpc.agents_get_settings.queryOptions({}, { staleTime: 60_000 }));
  const decided = data === undefined ? [] : names.filter(name => data[name] !== null);
  if (data === undefined || decided.length === 0) return null;
  const settingTexts = decided.map(name => `${FIELDS[name].label.toLowerCase()}: ${LABELS.get(data[name] ?? '')}`);
  return (
    <p className="text-xs text-muted">Set by the workspace ({settingTexts.join('; ')}). The stricter choice counts.</p>
  );
}
