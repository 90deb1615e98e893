'use client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { useTRPC } from '../../trpc/provider.tsx';
import { Button } from '../../ui/button.tsx';
import { CopyButton, CopyField } from '../../ui/copy.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field, Input } from '../../ui/field.tsx';
import { Link } from '../../ui/link.tsx';
import { ScrollRegion } from '../../ui/scroll-region.tsx';
import { Select } from '../../ui/select.tsx';
import { FormError } from '../../ui/states.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import type { Draft } from '../use-draft.ts';
import { SCHEDULERS, type Schedule, type Scheduler, scheduleFor, scheduleWords, WEEKDAYS } from './schedule.ts';
import { startScopes } from './start-scopes.ts';
import { useWebhooksOf } from './use-webhooks-of.ts';

type Props = { workflowId: string; draft: Draft; editable: boolean; onClose: () => void };

/** Shows the ways in which a workflow starts, and the configuration for an external scheduler: the service has no scheduler. */
export function StartDialog({ workflowId, draft, editable, onClose }: Props) {
  const [tab, setTab] = useState<'now' | 'schedule'>('now');
  return (
    <Dialog open onOpenChange={open => !open && onClose()} title="How it starts" size="lg">
      <Tabs<'now' | 'schedule'>
        label="Ways to start"
        value={tab}
        onChange={setTab}
        tabs={[
          { value: 'now', label: 'On request', content: <Ways {...{ workflowId, draft, editable }} /> },
          { value: 'schedule', label: 'Schedule', content: <Scheduling {...{ workflowId, draft, editable }} /> },
        ]}
      />
    </Dialog>
  );
}

const linkClass = 'text-text underline underline-offset-2';

type PartProps = Omit<Props, 'onClose'>;

function Ways({ workflowId, draft, editable }: PartProps) {
  const webhooks = useWebhooksOf(workflowId, editable);
  const { tool } = draft.state.draft.graph;
  return (
    <dl className="flex flex-col gap-4 py-1 text-sm">
      <Way name="By a person">
        “Run” on this page starts the latest published version, with an input where it takes one.
      </Way>
      <Way name="By a program">
        A request to the API starts it, such as that of a scheduler. The API reference has the details.
      </Way>
      <Way name="By a webhook">
        {webhooks.length === 0 ? (
          'No webhook starts it yet. '
        ) : (
          <span className="mb-1 flex flex-wrap gap-x-3">
            {webhooks.map(webhook => (
              <Link key={webhook.id} href={`/webhooks/${webhook.id}`} className={linkClass}>
                {webhook.name}
              </Link>
            ))}
          </span>
        )}
        <Link href="/webhooks" className={linkClass}>
          {webhooks.length === 0 ? 'Create one' : 'All webhooks'}
        </Link>
      </Way>
      <Way name="By another workflow">A step of the type “Call workflow” starts it and takes its output.</Way>
      <Way name="By chat and agents">
        {tool === undefined
          ? 'It is not offered as a tool. The settings of the workflow offer it to chat, agents and MCP clients.'
          : `It is offered as the tool “${tool.name ?? draft.state.draft.name}” to chat, agents and MCP clients.`}
      </Way>
    </dl>
  );
}

function Way({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt className="font-medium">{name}</dt>
      <dd className="text-muted">{children}</dd>
    </div>
  );
}

const EVERY: readonly { value: Schedule['every']; label: string }[] = [
  { value: 'hour', label: 'Every hour' },
  { value: 'day', label: 'Every day' },
  { value: 'weekday', label: 'Monday to Friday' },
  { value: 'week', label: 'Every week' },
  { value: 'month', label: 'Every month' },
];

function Scheduling({ workflowId, draft, editable }: PartProps) {
  const [schedule, setSchedule] = useState<Schedule>({ every: 'day', minute: 0, hour: 9, weekday: 1, day: 1 });
  const [scheduler, setScheduler] = useState<Scheduler>('crontab');
  const { name, graph } = draft.state.draft;
  const token = useToken(name, graph.steps);
  const scheduled = {
    origin: window.location.origin,
    workflow: { id: workflowId, name },
    schedule,
    token: token.data?.token ?? null,
  };
  return (
    <div className="flex flex-col gap-4 py-1">
      <p className="text-sm text-muted">
        Baton has no scheduler of its own. Choose a time, and give the lines below to one that you run: it starts the
        latest published version {scheduleWords(schedule)}.
      </p>
      <ScheduleFields schedule={schedule} onChange={setSchedule} />
      {editable ? <Token token={token} /> : null}
      <Tabs<Scheduler>
        label="Scheduler"
        value={scheduler}
        onChange={setScheduler}
        tabs={SCHEDULERS.map(({ value, label }) => ({
          value,
          label,
          content: <Lines label={label} text={scheduleFor(value, scheduled)} />,
        }))}
      />
    </div>
  );
}

type FieldsProps = { schedule: Schedule; onChange: (schedule: Schedule) => void };

function ScheduleFields({ schedule, onChange }: FieldsProps) {
  const { every, minute, hour, weekday, day } = schedule;
  const set = (fields: Partial<Schedule>) => onChange({ ...schedule, ...fields });
  const whole = (text: string, max: number, min = 0) => Math.min(max, Math.max(min, Math.trunc(Number(text)) || min));
  return (
    <div className="flex flex-wrap items-end gap-3">
      <Field label="How often">
        <Select value={every} options={EVERY} onChange={next => set({ every: next })} className="w-44" />
      </Field>
      {every === 'week' ? (
        <Field label="Day">
          <Select
            value={String(weekday)}
            options={WEEKDAYS.map((label, at) => ({ value: String(at), label }))}
            onChange={next => set({ weekday: Number(next) })}
            className="w-36"
          />
        </Field>
      ) : null}
      {every === 'month' ? (
        <Field label="Day of the month">
          <Input
            type="number"
            min={1}
            max={28}
            value={day}
            className="w-24"
            onChange={event => set({ day: whole(event.target.value, 28, 1) })}
          />
        </Field>
      ) : null}
      {every === 'hour' ? (
        <Field label="Minute">
          <Input
            type="number"
            min={0}
            max={59}
            value={minute}
            className="w-24"
            onChange={event => set({ minute: whole(event.target.value, 59) })}
          />
        </Field>
      ) : (
        <Field label="Time (UTC)">
          <TimeInput hour={hour} minute={minute} onChange={set} />
        </Field>
      )}
    </div>
  );
}

type TimeProps = { hour: number; minute: number; onChange: (time: { hour: number; minute: number }) => void };

/** A field for a time of day, such as 9:30. An invalid time is marked and changes nothing. */
function TimeInput({ hour, minute, onChange }: TimeProps) {
  const [text, setText] = useState(`${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}`);
  const read = (value: string) => /^\s*([01]?\d|2[0-3])[:.]?([0-5]\d)\s*$/.exec(value);
  return (
    <Input
      value={text}
      inputMode="numeric"
      aria-invalid={read(text) === null || undefined}
      className="w-24 tabular-nums"
      onChange={event => {
        setText(event.target.value);
        const time = read(event.target.value);
        if (time !== null) onChange({ hour: Number(time[1]), minute: Number(time[2]) });
      }}
    />
  );
}

/** Creates a token that can only start this workflow. */
function useToken(name: string, steps: unknown) {
  const trpc = useTRPC();
  const queries = useQueryClient();
  const create = useMutation(
    trpc.pats_create.mutationOptions({ onSuccess: () => queries.invalidateQueries(trpc.pats_list.queryFilter()) }),
  );
  const scopes = startScopes(steps);
  const run = () => create.mutate({ display_name: `Schedule: ${name}`.slice(0, 100), scopes });
  return { data: create.data, error: create.error, isPending: create.isPending, scopes, run };
}

function Token({ token }: { token: ReturnType<typeof useToken> }) {
  if (token.data !== undefined)
    return (
      <div className="flex flex-col gap-1">
        <CopyField label="API key" value={token.data.token} />
        <p className="text-xs text-muted">The key is in the lines below. Copy them before you close this.</p>
      </div>
    );
  return (
    <div className="flex flex-col gap-2">
      <FormError error={token.error} />
      <div className="flex flex-wrap items-center gap-3">
        <Button size="sm" onClick={token.run} disabled={token.isPending}>
          Create an API key
        </Button>
        <p className="min-w-0 flex-1 text-xs text-muted">
          It acts as you, with no more than {token.scopes.join(', ')}. Without one, the lines have a mark in its place.
        </p>
      </div>
    </div>
  );
}

function Lines({ label, text }: { label: string; text: string }) {
  return (
    <div className="rounded-md border bg-sunken">
      <div className="flex items-center justify-between border-b py-0.5 pr-0.5 pl-3 text-xs text-muted">
        Ready to paste
        <CopyButton text={text} label={`Copy for ${label}`} />
      </div>
      <ScrollRegion label={`Lines for ${label}`} className="max-h-64 overflow-auto p-3">
        <pre className="font-mono text-xs leading-5">{text}</pre>
      </ScrollRegion>
    </div>
  );
}
