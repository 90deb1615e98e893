'use client';
import { useQuery } from '@tanstack/react-query';
import { useTRPC } from '../../trpc/provider.tsx';
import { Select } from '../../ui/select.tsx';

/** The workflow to which a page is filtered; the empty string means all. */
export function WorkflowSelect({ value, onChange }: { value: string; onChange: (workflowId: string) => void }) {
  const trpc = useTRPC();
  const { data } = useQuery(trpc.workflows_list.queryOptions({ limit: 200, graphs: false }, { staleTime: 30_000 }));
  const known = data?.workflows.some(workflow => workflow.id === value);
  return (
    <Select<string>
      label="Workflow"
      className="w-44"
      value={value}
      options={[
        { value: '', label: 'Any workflow' },
        ...(data?.workflows ?? []).map(workflow => ({ value: workflow.id, label: workflow.name })),
        // A link may name a workflow that is not listed: it is archived, or belongs to another project.
        ...(value && !known ? [{ value, label: `${value.slice(0, 8)}…` }] : []),
      ]}
      onChange={onChange}
    />
  );
}
