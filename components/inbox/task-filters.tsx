'use client';
import { useQuery } from '@tanstack/react-query';
import { useSession } from '../session/session.tsx';
import { useTRPC } from '../trpc/provider.tsx';
import { SearchInput } from '../ui/search-input.tsx';
import { Select } from '../ui/select.tsx';
import { useUrlState } from '../ui/use-url-state.ts';
import { useInboxFilter } from './use-inbox.ts';

/** Filters of the two lists. The workflows to choose from are those of the pending tasks of all projects. */
export function TaskFilters() {
  const { get, set } = useUrlState();
  const { view, workflow, project, mine } = useInboxFilter();
  const { me } = useSession();
  const workflows = useWorkflowNames(workflow);
  const projects = me.tenants.find(({ id }) => id === me.tenant.id)?.projects ?? [];
  return (
    <div className="flex flex-col gap-2">
      <SearchInput wide label="Search tasks" value={get('q')} onChange={q => set({ q })} />
      <div className="grid grid-cols-2 gap-2">
        <Select<string>
          label="Workflow"
          value={workflow}
          options={[{ value: '', label: 'Any workflow' }, ...workflows]}
          onChange={value => set({ workflow_id: value }, { push: true })}
        />
        <Select<'' | 'me'>
          label={view === 'waiting' ? 'Assigned to' : 'Answered by'}
          value={mine ? 'me' : ''}
          options={[
            { value: '', label: 'Anyone' },
            { value: 'me', label: 'Me' },
          ]}
          onChange={value => set({ assignee: value }, { push: true })}
        />
        {projects.length > 1 ? (
          <Select<string>
            label="Project"
            value={project}
            options={[
              { value: '', label: 'Any project' },
              ...projects.map(({ id, name }) => ({ value: id, label: name })),
            ]}
            onChange={value => set({ project_id: value }, { push: true })}
          />
        ) : null}
        {view === 'waiting' ? (
          <Select<string>
            label="Due"
            value={get('due')}
            options={[
              { value: '', label: 'Due any time' },
              { value: 'hour', label: 'Due in an hour' },
              { value: 'day', label: 'Due in 24 hours' },
              { value: 'week', label: 'Due in 7 days' },
            ]}
            onChange={value => set({ due: value }, { push: true })}
          />
        ) : null}
      </div>
    </div>
  );
}

/** Returns the workflows with pending tasks, and the chosen workflow even if it has none. */
function useWorkflowNames(chosen: string) {
  const trpc = useTRPC();
  const { data } = useQuery(trpc.tasks_list_pending.queryOptions({ limit: 200 }, { staleTime: 10_000 }));
  const names = new Map((data?.tasks ?? []).map(task => [task.workflow_id, task.workflow_name]));
  if (chosen && !names.has(chosen)) names.set(chosen, 'This workflow');
  return [...names].map(([value, label]) => ({ value, label }));
}
