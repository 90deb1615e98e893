'use client';
import { useQuery } from '@tanstack/react-query';
import { X } from 'lucide-react';
import { useId } from 'react';
import type { Inputs } from '../trpc/provider.tsx';
import { useTRPC } from '../trpc/provider.tsx';
import { Button } from '../ui/button.tsx';
import { Input } from '../ui/field.tsx';
import { SearchInput } from '../ui/search-input.tsx';
import { Select } from '../ui/select.tsx';
import { statusLook } from '../ui/status-badge.tsx';
import { useUrlState } from '../ui/use-url-state.ts';

const statuses = ['running', 'paused', 'completed', 'failed', 'stopped'] as const;
type Status = (typeof statuses)[number];
type Filters = Pick<Exclude<Inputs['runs_list_tenant'], void>, 'q' | 'status' | 'workflow_id' | 'from' | 'to'>;

const DAY = /^\d{4}-\d{2}-\d{2}$/;
const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/;

/** The filters in the URL as the API takes them; what is malformed is left out. Days are days in UTC, both included. */
export function readRunFilters(get: (key: string) => string): Filters {
  const status = statuses.find(each => each === get('status'));
  const [q, workflow, from, to] = [get('q'), get('workflow_id'), get('from'), get('to')];
  return {
    ...(q ? { q } : {}),
    ...(status ? { status } : {}),
    ...(UUID.test(workflow) ? { workflow_id: workflow } : {}),
    ...(DAY.test(from) ? { from: `${from}T00:00:00.000Z` } : {}),
    ...(DAY.test(to) ? { to: `${to}T23:59:59.999Z` } : {}),
  };
}

export function RunFilters() {
  const trpc = useTRPC();
  const { get, set } = useUrlState();
  const { data } = useQuery(trpc.workflows_list.queryOptions({ limit: 200 }, { staleTime: 30_000 }));
  const change = (patch: Record<string, string>) => set({ ...patch, cursor: '' }, { push: true });
  const chosen = get('workflow_id');
  const known = data?.workflows.some(workflow => workflow.id === chosen);
  const active = Object.keys(readRunFilters(get)).length > 0;
  return (
    <div className="mb-3 flex flex-wrap items-center gap-2">
      <SearchInput label="Run, session or trigger" value={get('q')} onChange={value => set({ q: value, cursor: '' })} />
      <Select<Status | ''>
        label="Status"
        className="w-36"
        value={statuses.find(each => each === get('status')) ?? ''}
        options={[
          { value: '', label: 'Any status' },
          ...statuses.map(value => ({ value, label: statusLook('run', value).label })),
        ]}
        onChange={status => change({ status })}
      />
      <Select<string>
        label="Workflow"
        className="w-44"
        value={chosen}
        options={[
          { value: '', label: 'Any workflow' },
          ...(data?.workflows ?? []).map(workflow => ({ value: workflow.id, label: workflow.name })),
          // A link may name a workflow that the list does not have: archived, or of another project.
          ...(chosen && !known ? [{ value: chosen, label: `${chosen.slice(0, 8)}…` }] : []),
        ]}
        onChange={workflow => change({ workflow_id: workflow })}
      />
      <Day label="From" value={get('from')} onChange={from => change({ from })} />
      <Day label="To" value={get('to')} onChange={to => change({ to })} />
      {active ? (
        <Button
          variant="ghost"
          size="sm"
          icon={<X aria-hidden className="size-3.5" />}
          onClick={() => change({ q: '', status: '', workflow_id: '', from: '', to: '' })}
        >
          Clear
        </Button>
      ) : null}
    </div>
  );
}

function Day({ label, value, onChange }: { label: string; value: string; onChange: (day: string) => void }) {
  const id = useId();
  return (
    <div className="flex items-center gap-1.5 text-xs text-muted">
      <label htmlFor={id}>{label}</label>
      <Input
        id={id}
        type="date"
        value={DAY.test(value) ? value : ''}
        onChange={event => onChange(event.target.value)}
        className="w-36"
      />
    </div>
  );
}
