'use client';
import { useQuery } from '@tanstack/react-query';
import { UserPlus } from 'lucide-react';
import { useState } from 'react';
import { usePermissions, useSession } from '../shell/session.tsx';
import { useTRPC } from '../trpc/provider.tsx';
import { Button } from '../ui/button.tsx';
import { Card } from '../ui/card.tsx';
import { Page, PageHeader } from '../ui/page.tsx';
import { Pager } from '../ui/pager.tsx';
import { ErrorState } from '../ui/states.tsx';
import { SkeletonRows, Table, THead, Th } from '../ui/table.tsx';
import { useUrlState } from '../ui/use-url-state.ts';
import { Invitations } from './invitations.tsx';
import { InviteDialog } from './invite-dialog.tsx';
import { MemberRow } from './member-row.tsx';

/** Who belongs to the workspace, and who is invited. */
export function Members() {
  const trpc = useTRPC();
  const { me } = useSession();
  const { isAdmin } = usePermissions();
  const { get, set } = useUrlState();
  const [inviting, setInviting] = useState(false);
  const cursor = get('cursor');
  const list = useQuery(trpc.members_list.queryOptions({ limit: 100, ...(cursor ? { cursor } : {}) }));
  return (
    <Page>
      <PageHeader
        title="Members"
        description={`Roles are those on the project ${me.project.name}.`}
        actions={
          isAdmin ? (
            <Button
              variant="primary"
              icon={<UserPlus aria-hidden className="size-3.5" />}
              onClick={() => setInviting(true)}
            >
              Invite
            </Button>
          ) : null
        }
      />
      <Card flush>
        {list.isError && !list.data ? (
          <ErrorState error={list.error} onRetry={() => void list.refetch()} />
        ) : (
          <>
            <Table label="Members">
              <THead>
                <Th>Name</Th>
                <Th>Role on this project</Th>
                <Th>Workspace admin</Th>
                <Th>Since</Th>
                <Th>
                  <span className="sr-only">Actions</span>
                </Th>
              </THead>
              <tbody>
                {list.data ? (
                  list.data.members.map(member => <MemberRow key={member.user_id} member={member} />)
                ) : (
                  <SkeletonRows columns={5} rows={3} />
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
      {isAdmin ? <Invitations /> : null}
      {isAdmin ? <InviteDialog open={inviting} onClose={() => setInviting(false)} /> : null}
    </Page>
  );
}
