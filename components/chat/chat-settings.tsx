'use client';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { WorkspaceApprovals } from '../agent-tools/workspace-approvals.tsx';
import { AgentsOff } from '../agents/agents-off.tsx';
import { useCreditsShown, usePermissions, useSession } from '../session/session.tsx';
import { type Outputs, useTRPC } from '../trpc/provider.tsx';
import { Button } from '../ui/button.tsx';
import { Card } from '../ui/card.tsx';
import { Field, Input } from '../ui/field.tsx';
import { Page, PageHeader } from '../ui/page.tsx';
import { readFields } from '../ui/read-fields.ts';
import { Skeleton } from '../ui/skeleton.tsx';
import { ErrorState, FormError } from '../ui/states.tsx';
import { RelativeTime } from '../ui/time.tsx';
import { toast } from '../ui/toaster.tsx';
import { DefaultModels } from './default-models.tsx';

type Settings = Outputs['chat_get_settings'];

/** Edits the workspace's chat settings: the daily limit of a person, how long threads are kept, which models answer. */
export function ChatSettings() {
  const { me } = useSession();
  const trpc = useTRPC();
  const settings = useQuery(trpc.chat_get_settings.queryOptions({}, { enabled: me.agents }));
  if (!me.agents) return <AgentsOff title="Chat settings" />;
  return (
    <Page width="narrow">
      <PageHeader title="Chat settings" />
      {settings.isError ? <ErrorState error={settings.error} onRetry={() => void settings.refetch()} /> : null}
      {settings.isPending ? <Skeleton className="h-60" /> : null}
      {settings.data ? (
        <div className="flex flex-col gap-4">
          <SettingsCard settings={settings.data} />
          <DefaultModels settings={settings.data} />
          <WorkspaceApprovals />
        </div>
      ) : null}
    </Page>
  );
}

function SettingsCard({ settings }: { settings: Settings }) {
  const trpc = useTRPC();
  const queries = useQueryClient();
  const { isAdmin } = usePermissions();
  const showsCredits = useCreditsShown();
  const [problems, setProblems] = useState<Problems>({});
  const save = useMutation(
    trpc.chat_patch_settings.mutationOptions({
      onSuccess: () => {
        toast.success('Chat settings saved');
        return queries.invalidateQueries(trpc.chat_get_settings.pathFilter());
      },
    }),
  );
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const text = readFields(event.currentTarget);
    const credits = showsCredits ? amountOf(text('credits')) : undefined;
    const days = amountOf(text('days'));
    const found: Problems = {
      credits: credits === 'wrong' ? 'Enter a number that is 0 or more.' : null,
      days:
        days === 'wrong' || (typeof days === 'number' && (days < 1 || !Number.isInteger(days)))
          ? 'Enter a whole number that is 1 or more.'
          : null,
    };
    setProblems(found);
    if (found.credits || found.days || credits === 'wrong' || days === 'wrong') return;
    save.mutate({ retention_days: days, ...(credits !== undefined && { daily_credits: credits }) });
  };
  return (
    <Card title="Limits" description="For everyone in the workspace, in chats and with Autopilot.">
      <form onSubmit={submit} noValidate className="flex flex-col items-start gap-4">
        <FormError error={save.error} />
        {showsCredits ? (
          <Field
            label="Daily credits per person"
            hint="Empty: no limit. Once used up, messages are refused until midnight UTC."
            error={problems.credits}
            className="w-full sm:w-80"
          >
            <Input
              name="credits"
              inputMode="decimal"
              readOnly={!isAdmin}
              defaultValue={settings.daily_credits ?? ''}
              autoComplete="off"
            />
          </Field>
        ) : null}
        <Field
          label="Days to keep threads"
          hint="Empty: forever. A thread without changes for this long is deleted. The runs of its answers are kept like all other runs."
          error={problems.days}
          className="w-full sm:w-80"
        >
          <Input
            name="days"
            inputMode="numeric"
            readOnly={!isAdmin}
            defaultValue={settings.retention_days ?? ''}
            autoComplete="off"
          />
        </Field>
        {showsCredits ? (
          <p className="text-sm text-muted tabular-nums">
            Used by your chats and trials today:{' '}
            {settings.used_today.toLocaleString('en', { maximumSignificantDigits: 3 })} credits. The next day:{' '}
            <RelativeTime at={settings.resets_at} />
          </p>
        ) : null}
        {isAdmin ? (
          <Button type="submit" variant="primary" pending={save.isPending}>
            Save
          </Button>
        ) : (
          <p className="text-sm text-muted">Only administrators can change this.</p>
        )}
      </form>
    </Card>
  );
}

type Problems = { credits?: string | null; days?: string | null };

/** Returns the number in a field; null (no limit) if it is empty, 'wrong' if it is not a number of at least 0. */
function amountOf(text: string): number | null | 'wrong' {
  const trimmed = text.trim();
  if (trimmed === '') return null;
  const amount = Number(trimmed);
  return Number.isFinite(amount) && amount >= 0 ? amount : 'wrong';
}
