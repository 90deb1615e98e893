'use client';
import { X } from 'lucide-react';
import { useMemo } from 'react';
import { WorkflowSelect } from '../runs/feed/workflow-select.tsx';
import { Button } from '../ui/button.tsx';
import { cx } from '../ui/classes.ts';
import { DayInput } from '../ui/day-input.tsx';
import { FilterBar, WIDE_FILTER } from '../ui/filter-bar.tsx';
import { SearchSelect } from '../ui/search-select.tsx';
import { Select } from '../ui/select.tsx';
import { useUrlState } from '../ui/use-url-state.ts';
import { type Filters, type Granularity, granularities, hoursFit, type Period } from './filters.ts';
import { addDays, dayIn } from './zoned-days.ts';

const periodLabels: Record<Period, string> = {
  week: 'Last 7 days',
  month: 'Last 30 days',
  all: 'All time',
  custom: 'From – to',
};
const granularityLabels: Record<Granularity, string> = {
  hour: 'By hour',
  day: 'By day',
  week: 'By week',
  month: 'By month',
};

/** The filters of the page. They are stored in the URL, and Back undoes each change. */
export function AnalyticsFilters({ filters, zone, now }: { filters: Filters; zone: string; now: number }) {
  const { get, set } = useUrlState();
  const change = (patch: Record<string, string>) => set(patch, { push: true });
  const { period, from, to, granularity, range } = filters;
  const today = dayIn(now, range.time_zone);
  const choose = (next: Period) =>
    change(
      next === 'custom'
        ? { period: '', from: addDays(today, period === 'week' ? -6 : -29), to: today }
        : { period: next === 'month' ? '' : next, from: '', to: '' },
    );
  const offered = granularities.filter(each => each !== 'hour' || hoursFit(period, from, to || today));
  const active = ['period', 'from', 'to', 'granularity', 'workflow_id', 'zone'].some(key => get(key) !== '');
  return (
    <FilterBar>
      <Select<Period>
        label="Period"
        className={cx('w-36', period === 'custom' && WIDE_FILTER)}
        value={period}
        options={Object.entries(periodLabels).map(([value, label]) => ({ value: value as Period, label }))}
        onChange={choose}
      />
      {period === 'custom' ? (
        <>
          <DayInput label="From" value={from} onChange={day => change({ from: day })} />
          <DayInput label="To" value={to} onChange={day => change({ to: day })} />
        </>
      ) : null}
      <Select<Granularity | ''>
        label="Granularity"
        className="w-32"
        value={granularity ?? ''}
        options={[
          { value: '', label: 'Automatic' },
          ...offered.map(value => ({ value, label: granularityLabels[value] })),
        ]}
        onChange={next => change({ granularity: next })}
      />
      <WorkflowSelect value={range.workflow_id ?? ''} onChange={workflow => change({ workflow_id: workflow })} />
      <ZoneSelect chosen={range.time_zone} own={zone} onChange={next => change({ zone: next === zone ? '' : next })} />
      {active ? (
        <Button
          variant="ghost"
          size="sm"
          icon={<X aria-hidden className="size-3.5" />}
          onClick={() => change({ period: '', from: '', to: '', granularity: '', workflow_id: '', zone: '' })}
        >
          Clear
        </Button>
      ) : null}
    </FilterBar>
  );
}

/** Selects a time zone with a search, because there are about four hundred. */
function ZoneSelect({ chosen, own, onChange }: { chosen: string; own: string; onChange: (zone: string) => void }) {
  const zones = useMemo(() => {
    const all = new Set([own, 'UTC', chosen, ...Intl.supportedValuesOf('timeZone')]);
    return [...all];
  }, [own, chosen]);
  return (
    <SearchSelect
      label="Time zone"
      className="w-44"
      value={chosen}
      onChange={onChange}
      options={zones.map(zone => ({ value: zone, label: zone === own ? `${zone} (yours)` : zone }))}
    />
  );
}
