'use client';
import { useQuery } from '@tanstack/react-query';
import { useTRPC } from '../trpc/provider.tsx';
import { Select } from '../ui/select.tsx';
import { useUrlState } from '../ui/use-url-state.ts';

/** Filters by workflow and by assignee. The choices come from the pending tasks of all projects. */
export function TaskFilters() {
  const trpc = useTRPC();
  const { get, set } = useUrlState();
  const { data } = useQuery(trpc.tasks_list_pending.queryOptions({ limit: 200 }, { staleTime: 10_000 }));
  const workflow = get('workflow_id');
  const names = new Map((data?.tasks ?? []).map(task => [task.workflow_id, task.workflow_name]));
  if (workflow && !names.has(workflow)) names.set(workflow, 'This workflow');
  return (
    <div className="flex gap-2">
      <Select<string>
        label="Workflow"
        value={workflow}
        options={[{ value: '', label: 'Any workflow' }, ...[...names].map(([value, label]) => ({ value, label }))]}
        onChange={value => set({ workflow_id: value }, { push: true })}
      />
      <Select<'' | 'me'>
        label="Assigned to"
        className="max-w-36"
        value={get('assignee') === 'me' ? 'me' : ''}
        options={[
          { value: '', label: 'Anyone' },
          { value: 'me', label: 'Me' },
        ]}
        onChange={value => set({ assignee: value }, { push: true })}
      />
    </div>
  );
}
