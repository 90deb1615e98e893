'use client';
import { X } from 'lucide-react';
import { RUN_STATUSES, type RunStatus } from '@/server/orchestrator/core/events.ts';
import { Button } from '../../ui/button.tsx';
import { cx } from '../../ui/classes.ts';
import { DayInput } from '../../ui/day-input.tsx';
import { FilterBar, WIDE_FILTER } from '../../ui/filter-bar.tsx';
import { SearchInput } from '../../ui/search-input.tsx';
import { Select } from '../../ui/select.tsx';
import { statusLook } from '../../ui/status-badge.tsx';
import { useUrlState } from '../../ui/use-url-state.ts';
import { KINDS, type Kind, kindOf, readRunFilters } from './read-run-filters.ts';
import { WorkflowSelect } from './workflow-select.tsx';

/** Chooses whether test runs are listed. */
function RunKindSelect() {
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

/** The filters of a list of runs, kept in the URL. The list of one workflow has no workflow filter. */
export function RunFilters({ workflowId }: { workflowId?: string }) {
  const { get, set } = useUrlState();
  const change = (patch: Record<string, string>) => set({ ...patch, cursor: '' }, { push: true });
  const active = Object.keys(readRunFilters(get)).length > 0 || get('kind') !== '';
  return (
    <FilterBar>
      <SearchInput
        label="Search runs"
        hint="Workflow name, or the start of a run ID, session, trigger or searchable value. Use order=4711 for an exact value of the searchable field “order”."
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
      {workflowId === undefined ? (
        <WorkflowSelect value={get('workflow_id')} onChange={workflow => change({ workflow_id: workflow })} />
      ) : null}
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
          onClick={() => change({ q: '', status: '', workflow_id: '', from: '', to: '', kind: '', view: '' })}
        >
          Clear
        </Button>
      ) : null}
    </FilterBar>
  );
}
