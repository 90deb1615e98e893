'use client';
import { useMutation, useQuery } from '@tanstack/react-query';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import { usePermissions } from '../shell/session.tsx';
import { useTRPC } from '../trpc/provider.tsx';
import { Button } from '../ui/button.tsx';
import { Card } from '../ui/card.tsx';
import { Page, PageHeader } from '../ui/page.tsx';
import { Pager } from '../ui/pager.tsx';
import { ErrorState } from '../ui/states.tsx';
import { SkeletonRows, Table, THead, Th } from '../ui/table.tsx';
import { toast } from '../ui/toaster.tsx';
import { useUrlState } from '../ui/use-url-state.ts';
import { ProjectNameDialog } from './project-name-dialog.tsx';
import { ProjectRow } from './project-row.tsx';
import { useRefreshProjects } from './use-refresh-projects.ts';

/** The projects of the workspace. */
export function Projects() {
  const trpc = useTRPC();
  const { isAdmin } = usePermissions();
  const { get, set } = useUrlState();
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
      <Card flush>
        {list.isError && !list.data ? (
          <ErrorState error={list.error} onRetry={() => void list.refetch()} />
        ) : (
          <>
            <Table label="Projects">
              <THead>
                <Th>Name</Th>
                <Th>Id</Th>
                <Th>Created</Th>
                <Th>
                  <span className="sr-only">Actions</span>
                </Th>
              </THead>
              <tbody>
                {list.data ? (
                  list.data.projects.map(project => <ProjectRow key={project.id} project={project} />)
                ) : (
                  <SkeletonRows columns={4} rows={3} />
                )}
              </tbody>
            </Table>
            <Pager
              cursor={cursor}
              next={list.data?.next_cursor ?? null}
              onChange={next => set({ cursor: next }, { push: true })}
            />
          </>
        )}
      </Card>
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
