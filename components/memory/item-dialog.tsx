'use client';
import { useMutation, useQuery } from '@tanstack/react-query';
import { Undo2 } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { usePermissions } from '../session/session.tsx';
import { useTRPC } from '../trpc/provider.tsx';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { ErrorState, FormError } from '../ui/states.tsx';
import { RelativeTime } from '../ui/time.tsx';
import { useUrlState } from '../ui/use-url-state.ts';
import { KindBadge, PinBadge, StatusBadge, TrustBadge, VisibilityBadge } from './badges.tsx';
import { EditItemDialog } from './edit-item.tsx';
import { EvidenceList } from './evidence-list.tsx';
import { ForgetItem } from './forget-item.tsx';
import { useRefreshMemory } from './use-refresh-memory.ts';
import { Uses } from './uses.tsx';
import { type ItemWithEvidence, mayWrite } from './words.ts';

/** Shows an item with its evidence, history, uses and actions. */
export function ItemDialog({ id, onClose }: { id: string; onClose: () => void }) {
  const trpc = useTRPC();
  const permissions = usePermissions();
  const [mode, setMode] = useState<'show' | 'edit' | 'forget'>('show');
  const read = useQuery(trpc.memory_items_get.queryOptions({ id }, { staleTime: 0 }));
  const item = read.data;
  if (item && mode === 'edit') return <EditItemDialog item={item} onClose={() => setMode('show')} />;
  if (item && mode === 'forget')
    return <ForgetItem item={item} onCancel={() => setMode('show')} onForgotten={onClose} />;
  return (
    <Dialog
      open
      onOpenChange={open => !open && onClose()}
      size="lg"
      title={item?.subject ?? 'Memory'}
      footer={
        item && mayWrite(item.visibility, permissions) ? (
          <Actions item={item} onEdit={() => setMode('edit')} onForget={() => setMode('forget')} />
        ) : undefined
      }
    >
      {item ? (
        <Details item={item} />
      ) : read.isError ? (
        <ErrorState error={read.error} onRetry={() => void read.refetch()} />
      ) : (
        <div className="flex flex-col gap-3">
          <Skeleton className="h-5 w-96 max-w-full" />
          <Skeleton className="h-4 w-60" />
          <Skeleton className="h-24 w-full" />
        </div>
      )}
    </Dialog>
  );
}

function Actions({ item, onEdit, onForget }: { item: ItemWithEvidence; onEdit: () => void; onForget: () => void }) {
  const trpc = useTRPC();
  const refresh = useRefreshMemory();
  const patch = useMutation(trpc.memory_items_patch.mutationOptions({ onSuccess: refresh }));
  const confirm = useMutation(trpc.memory_confirm_item.mutationOptions({ onSuccess: refresh }));
  const { id, status, pinned } = item;
  const pending = patch.isPending || confirm.isPending;
  return (
    <div className="flex w-full flex-col gap-2">
      <FormError error={patch.error ?? confirm.error} />
      <div className="flex flex-wrap justify-end gap-2">
        <Button variant="danger" className="mr-auto" onClick={onForget}>
          Forget
        </Button>
        {status === 'proposed' ? (
          <>
            <Button pending={pending} onClick={() => patch.mutate({ id, status: 'rejected' })}>
              Reject
            </Button>
            <Button variant="primary" pending={pending} onClick={() => confirm.mutate({ id })}>
              Accept
            </Button>
          </>
        ) : null}
        {status === 'rejected' ? (
          <Button pending={pending} onClick={() => patch.mutate({ id, status: 'proposed' })}>
            Review again
          </Button>
        ) : null}
        {status === 'superseded' ? (
          <Button
            pending={pending}
            icon={<Undo2 aria-hidden className="size-3.5" />}
            onClick={() => patch.mutate({ id, reinstate: true })}
          >
            Still true
          </Button>
        ) : null}
        {status === 'active' ? (
          <Button pending={pending} onClick={() => patch.mutate({ id, pinned: !pinned })}>
            {pinned ? 'Unpin' : 'Pin'}
          </Button>
        ) : null}
        <Button onClick={onEdit}>Edit</Button>
      </div>
    </div>
  );
}

function Details({ item }: { item: ItemWithEvidence }) {
  return (
    <div className="flex flex-col gap-5">
      <div className="flex flex-col gap-2">
        <p className="text-base wrap-anywhere">{item.text}</p>
        <p className="flex flex-wrap gap-1.5">
          <StatusBadge status={item.status} />
          <KindBadge kind={item.kind} />
          <VisibilityBadge visibility={item.visibility} />
          <TrustBadge trust={item.trust} />
          <PinBadge pinned={item.pinned} />
        </p>
      </div>
      <Section title="Evidence">
        <EvidenceList item={item} />
      </Section>
      <Section title="History">
        <History item={item} />
      </Section>
      <Section title="Uses">
        <Uses item={item} />
      </Section>
    </div>
  );
}

function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section>
      <h3 className="mb-1.5 text-xs font-medium text-faint">{title}</h3>
      {children}
    </section>
  );
}

function History({ item }: { item: ItemWithEvidence }) {
  return (
    <ul className="flex flex-col gap-1.5 text-sm text-muted">
      <li>
        {item.author === 'person' ? 'Written by a person' : 'Proposed by a program'}{' '}
        <RelativeTime at={item.created_at} />
        {item.confirmed_at === null ? null : (
          <>
            , accepted <RelativeTime at={item.confirmed_at} />
          </>
        )}
      </li>
      <li>
        True since <RelativeTime at={item.valid_from} />
        {item.valid_to === null ? null : (
          <>
            {' '}
            until <RelativeTime at={item.valid_to} />
          </>
        )}
      </li>
      {item.expires_at === null ? null : (
        <li>
          Expires <RelativeTime at={item.expires_at} />
        </li>
      )}
      {item.superseded_by === null ? null : <Other label="Superseded by" id={item.superseded_by} />}
      {item.supersedes === null ? null : (
        <Other label={item.status === 'proposed' ? 'Would replace' : 'Replaced'} id={item.supersedes} />
      )}
    </ul>
  );
}

/** Links to an earlier or later item of the same chain. */
function Other({ label, id }: { label: string; id: string }) {
  const trpc = useTRPC();
  const { set } = useUrlState();
  const read = useQuery(trpc.memory_items_get.queryOptions({ id }));
  return (
    <li className="flex flex-wrap items-baseline gap-1.5">
      {label}
      {read.data ? (
        <button
          type="button"
          className="text-left text-text underline wrap-anywhere hover:no-underline"
          onClick={() => set({ item: id }, { push: true })}
        >
          {read.data.text}
        </button>
      ) : read.isError ? (
        'an item you cannot see'
      ) : (
        <Skeleton className="inline-block h-3.5 w-40" />
      )}
    </li>
  );
}
