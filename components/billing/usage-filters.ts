'use client';
import { usageDimensions } from '../../server/domains/billing/schemas.ts';
import { actionsOfSubject, BILLABLE_ACTIONS } from '../../server/orchestrator/ports/billable-actions.ts';
import { isId } from '../ui/is-id.ts';
import { type Period, usePeriod } from '../ui/period-filter.tsx';
import { useUrlState } from '../ui/use-url-state.ts';
import type { BillableAction, UsageDimension } from './wire.ts';

export const usageFilterKeys = ['workflow_id', 'action', 'step_type', 'subject', 'started_by'] as const;
export type UsageFilterKey = (typeof usageFilterKeys)[number];
export type UsageFilters = {
  workflow_id?: string;
  action?: BillableAction;
  step_type?: string;
  subject?: string;
  started_by?: string;
  from?: string;
  to?: string;
};

/** Reads the dimension, the period and the filters from the URL. Malformed values are ignored. */
export function useUsageView(): { by: UsageDimension; period: Period; filters: UsageFilters } {
  const { get } = useUrlState();
  const period = usePeriod();
  const by = usageDimensions.find(each => each === get('by')) ?? 'workflow';
  return { by, period, filters: { ...period.bounds, ...readUsageFilters(get) } };
}

export function readUsageFilters(get: (key: string) => string): Omit<UsageFilters, 'from' | 'to'> {
  const action = BILLABLE_ACTIONS.find(each => each === get('action'));
  const workflow = get('workflow_id');
  const [stepType, subject, startedBy] = [get('step_type'), get('subject'), get('started_by')];
  return {
    ...(isId(workflow) ? { workflow_id: workflow } : {}),
    ...(action ? { action } : {}),
    ...(stepType ? { step_type: stepType.slice(0, 100) } : {}),
    ...(subject ? { subject: subject.slice(0, 300) } : {}),
    ...(startedBy ? { started_by: startedBy.slice(0, 300) } : {}),
  };
}

/** Returns the URL for one item of a dimension, and the dimension that breaks it down. */
export function drillDown(by: UsageDimension, key: string): Record<string, string> {
  switch (by) {
    case 'workflow':
      return { workflow_id: key, by: 'step_type', cursor: '' };
    case 'action':
      return { action: key, by: '', cursor: '' };
    case 'step_type':
      return { step_type: key, by: '', cursor: '' };
    case 'tool':
    case 'model': {
      const [action, ...others] = actionsOfSubject(by);
      const single = action !== undefined && others.length === 0;
      return { ...(single ? { action } : {}), subject: key, by: single ? '' : 'action', cursor: '' };
    }
    case 'user':
      return { started_by: key, by: '', cursor: '' };
    case 'day':
      return { period: 'custom', from: key, to: key, by: '', cursor: '' };
  }
}
