'use client';
import { useMutation, useQuery } from '@tanstack/react-query';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import { usePermissions } from '../session/session.tsx';
import { useTRPC } from '../trpc/provider.tsx';
import { Button } from '../ui/button.tsx';
import { ListCard } from '../ui/list-card.tsx';
import { Page, PageHeader } from '../ui/page.tsx';
import { toast } from '../ui/toaster.tsx';
import { useUrlState } from '../ui/use-url-state.ts';
import { ProjectNameDialog } from './project-name-dialog.tsx';
import { ProjectRow } from './project-row.tsx';
import { useRefreshProjects } from './use-refresh-projects.ts';

/** The projects of the workspace. */
export function Projects() {
  const trpc = useTRPC();
  const { isAdmin } = usePermissions();
  const { get } = useUrlState();
  const [creating, setCreating] = useState(false);
  const cursor = get('cursor');
  const list = useQuery(trpc.projects_list.queryOptions({ limit: 100, ...(cursor ? { cursor } : {}) }));
  const refresh = useRefreshProjects();
  const create = useMutation(
    trpc.projects_create.mutationOptions({
      onSuccess: project => {
        setCreating(false);
        toast.success(`${project.name} is created`);
        return refresh();
      },
    }),
  );
  return (
    <Page>
      <PageHeader
        title="Projects"
        description="Each project has its own workflows, API keys and roles."
        actions={
          isAdmin ? (
            <Button
              variant="primary"
              icon={<Plus aria-hidden className="size-3.5" />}
              onClick={() => setCreating(true)}
            >
              Create project
            </Button>
          ) : null
        }
      />
      <ListCard
        label="Projects"
        columns={['Name', 'ID', 'Created', '']}
        query={list}
        items={list.data?.projects}
        next={list.data?.next_cursor}
        row={project => <ProjectRow key={project.id} project={project} />}
        skeletonRows={3}
      />
      <ProjectNameDialog
        open={creating}
        onClose={() => {
          setCreating(false);
          create.reset();
        }}
        title="Create project"
        action="Create"
        initial=""
        pending={create.isPending}
        error={create.error}
        onSubmit={name => create.mutate({ name })}
      />
    </Page>
  );
}
