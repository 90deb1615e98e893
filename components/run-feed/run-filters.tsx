'use client';
import { X } from 'lucide-react';
import { RUN_STATUSES, type RunStatus } from '@/server/orchestrator/core/events.ts';
import { readFieldFilter } from '@/server/orchestrator/core/searchable.ts';
import type { Inputs } from '../trpc/provider.tsx';
import { Button } from '../ui/button.tsx';
import { cx } from '../ui/classes.ts';
import { DayInput, isDay } from '../ui/day-input.tsx';
import { FilterBar, WIDE_FILTER } from '../ui/filter-bar.tsx';
import { SearchInput } from '../ui/search-input.tsx';
import { Select } from '../ui/select.tsx';
import { statusLook } from '../ui/status-badge.tsx';
import { useUrlState } from '../ui/use-url-state.ts';
import { WorkflowSelect } from './workflow-select.tsx';

type Filters = Pick<
  Exclude<Inputs['runs_list_tenant'], void>,
  'q' | 'field' | 'status' | 'workflow_id' | 'from' | 'to' | 'test'
>;

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/;

/**
 * The filters in the URL as the API takes them; what is malformed is left out. The search box takes `name=value` of a searchable field, too. Days are those of the browser's time zone, both
 * included.
 */
export function readRunFilters(get: (key: string) => string): Filters {
  const status = RUN_STATUSES.find(each => each === get('status'));
  const [q, workflow, from, to] = [get('q'), get('workflow_id'), get('from'), get('to')];
  return {
    ...(q ? (readFieldFilter(q) === null ? { q } : { field: q }) : {}),
    ...(status ? { status } : {}),
    ...(UUID.test(workflow) ? { workflow_id: workflow } : {}),
    ...(isDay(from) ? { from: new Date(`${from}T00:00:00`).toISOString() } : {}),
    ...(isDay(to) ? { to: new Date(`${to}T23:59:59.999`).toISOString() } : {}),
  };
}

type Kind = '' | 'test' | 'all';
const KINDS: readonly { value: Kind; label: string }[] = [
  { value: '', label: 'Without test runs' },
  { value: 'test', label: 'Test runs only' },
  { value: 'all', label: 'With test runs' },
];
const kindOf = (get: (key: string) => string): Kind => KINDS.find(({ value }) => value === get('kind'))?.value ?? '';

/** Whether test runs are listed, by the URL: not unless a person asks for them. */
export function readRunKind(get: (key: string) => string): Pick<Filters, 'test'> {
  const kind = kindOf(get);
  return kind === 'all' ? {} : { test: kind === 'test' ? 'true' : 'false' };
}

/** Chooses whether test runs are listed. */
export function RunKindSelect() {
  const { get, set } = useUrlState();
  return (
    <Select<Kind>
      label="Test runs"
      className={cx('w-44', WIDE_FILTER)}
      value={kindOf(get)}
      options={KINDS}
      onChange={kind => set({ kind, cursor: '' }, { push: true })}
    />
  );
}

export function RunFilters() {
  const { get, set } = useUrlState();
  const change = (patch: Record<string, string>) => set({ ...patch, cursor: '' }, { push: true });
  const active = Object.keys(readRunFilters(get)).length > 0 || get('kind') !== '';
  return (
    <FilterBar>
      <SearchInput
        label="Search runs"
        hint="The name of a workflow, or the beginning of a run id, session, trigger or searchable value. order=4711 finds exactly this value of the searchable field order."
        value={get('q')}
        onChange={value => set({ q: value, cursor: '' })}
      />
      <Select<RunStatus | ''>
        label="Status"
        className="w-36"
        value={RUN_STATUSES.find(each => each === get('status')) ?? ''}
        options={[
          { value: '', label: 'Any status' },
          ...RUN_STATUSES.map(value => ({ value, label: statusLook('run', value).label })),
        ]}
        onChange={status => change({ status })}
      />
      <WorkflowSelect value={get('workflow_id')} onChange={workflow => change({ workflow_id: workflow })} />
      <RunKindSelect />
      <div className="contents sm:flex sm:items-center sm:gap-2">
        <DayInput label="From" value={get('from')} onChange={from => change({ from })} />
        <DayInput label="To" value={get('to')} onChange={to => change({ to })} />
      </div>
      {active ? (
        <Button
          variant="ghost"
          size="sm"
          icon={<X aria-hidden className="size-3.5" />}
          onClick={() => change({ q: '', status: '', workflow_id: '', from: '', to: '', kind: '' })}
        >
          Clear
        </Button>
      ) : null}
    </FilterBar>
  );
}
