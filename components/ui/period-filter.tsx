'use client';
import { DAY_MS } from '@/server/platform/clock.ts';
import { isDay } from './calendar-day.ts';
import { cx } from './classes.ts';
import { DayInput } from './day-input.tsx';
import { WIDE_FILTER } from './filter-bar.tsx';
import { Select } from './select.tsx';
import { useUrlState } from './use-url-state.ts';

const lengths = { '7d': 7, '30d': 30, '90d': 90 } as const;
export type PeriodChoice = '' | keyof typeof lengths | 'custom';
export type Period = { choice: PeriodChoice; from: string; to: string; bounds: { from?: string; to?: string } };

/** Returns the period of the URL (`period`, and `from` and `to` if it is custom) in the form of the API. Days are in UTC, both included. */
export function readPeriod(get: (key: string) => string, now: number): Period {
  const [from, to] = [get('from'), get('to')].map(day => (isDay(day) ? day : ''));
  const choice = (['7d', '30d', '90d', 'custom'] as const).find(each => each === get('period')) ?? '';
  if (choice === '') return { choice, from: '', to: '', bounds: {} };
  if (choice === 'custom')
    return {
      choice,
      from: from ?? '',
      to: to ?? '',
      bounds: {
        ...(from ? { from: `${from}T00:00:00.000Z` } : {}),
        ...(to ? { to: new Date(Date.parse(to) + DAY_MS).toISOString() } : {}),
      },
    };
  const today = Math.floor(now / DAY_MS) * DAY_MS;
  return { choice, from: '', to: '', bounds: { from: new Date(today - (lengths[choice] - 1) * DAY_MS).toISOString() } };
}

export function usePeriod(): Period {
  const { get } = useUrlState();
  return readPeriod(get, Date.now());
}

/** Selects the period. `all` is the label of no period. */
export function PeriodFilter({ period, all = 'All time' }: { period: Period; all?: string }) {
  const { set } = useUrlState();
  const change = (patch: Record<string, string>) => set({ ...patch, cursor: '' }, { push: true });
  return (
    <>
      <Select<PeriodChoice>
        label="Period"
        className={cx('w-44', WIDE_FILTER)}
        value={period.choice}
        options={[
          { value: '', label: all },
          { value: '7d', label: 'Last 7 days' },
          { value: '30d', label: 'Last 30 days' },
          { value: '90d', label: 'Last 90 days' },
          { value: 'custom', label: 'From … to …' },
        ]}
        onChange={choice => change({ period: choice, from: '', to: '' })}
      />
      {period.choice === 'custom' ? (
        <>
          <DayInput label="From" value={period.from} onChange={from => change({ from })} />
          <DayInput label="To" value={period.to} onChange={to => change({ to })} />
          <span className="text-xs text-faint">UTC</span>
        </>
      ) : null}
    </>
  );
}
