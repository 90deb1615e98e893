'use client';
import { useQuery } from '@tanstack/react-query';
import { UserPlus } from 'lucide-react';
import { useState } from 'react';
import { usePermissions, useSession } from '../session/session.tsx';
import { useTRPC } from '../trpc/provider.tsx';
import { Button } from '../ui/button.tsx';
import { ListCard } from '../ui/list-card.tsx';
import { Page, PageHeader } from '../ui/page.tsx';
import { useUrlState } from '../ui/use-url-state.ts';
import { Invitations } from './invitations.tsx';
import { InviteDialog } from './invite-dialog.tsx';
import { MemberRow } from './member-row.tsx';

/** The members of the workspace, and the invitations. */
export function Members() {
  const trpc = useTRPC();
  const { me } = useSession();
  const { isAdmin } = usePermissions();
  const { get } = useUrlState();
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
      <ListCard
        label="Members"
        columns={['Name', 'Role on this project', 'Workspace admin', 'Since', '']}
        query={list}
        items={list.data?.members}
        next={list.data?.next_cursor}
        row={member => <MemberRow key={member.user_id} member={member} />}
        skeletonRows={3}
      />
      {isAdmin ? <Invitations /> : null}
      {isAdmin ? <InviteDialog open={inviting} onClose={() => setInviting(false)} /> : null}
    </Page>
  );
}
