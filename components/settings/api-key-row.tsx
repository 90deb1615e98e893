'use client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Eye, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { useSession } from '../session/session.tsx';
import { type Outputs, useTRPC, useTRPCClient } from '../trpc/provider.tsx';
import { Badge } from '../ui/badge.tsx';
import { Button, IconButton } from '../ui/button.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { CopyField } from '../ui/copy.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { readError } from '../ui/errors.ts';
import { Td, Tr } from '../ui/table.tsx';
import { RelativeTime, useNow } from '../ui/time.tsx';
import { toast } from '../ui/toaster.tsx';
import { Tooltip } from '../ui/tooltip.tsx';

type Pat = Outputs['pats_list']['pats'][number];

export function ApiKeyRow({ pat }: { pat: Pat }) {
  const { me } = useSession();
  const [revoking, setRevoking] = useState(false);
  const [revealing, setRevealing] = useState(false);
  return (
    <Tr>
      <Td className="font-medium">{pat.display_name}</Td>
      <Td>
        <Scopes scopes={pat.scopes} />
      </Td>
      <Td className="text-muted">{pat.user_email}</Td>
      <Td>
        <RelativeTime at={pat.created_at} />
      </Td>
      <Td>{pat.last_used_at ? <RelativeTime at={pat.last_used_at} /> : <span className="text-faint">Never</span>}</Td>
      <Td>
        <Expiry at={pat.expires_at} />
      </Td>
      <Td className="w-20 text-right whitespace-nowrap">
        {pat.user_id === me.user.id ? (
          <IconButton label={`Reveal ${pat.display_name} once`} size="sm" onClick={() => setRevealing(true)}>
            <Eye aria-hidden className="size-3.5" />
          </IconButton>
        ) : null}
        <IconButton label={`Revoke ${pat.display_name}`} size="sm" onClick={() => setRevoking(true)}>
          <Trash2 aria-hidden className="size-3.5" />
        </IconButton>
        {revealing ? <RevealDialog pat={pat} onClose={() => setRevealing(false)} /> : null}
        <RevokeConfirm pat={pat} open={revoking} onOpenChange={setRevoking} />
      </Td>
    </Tr>
  );
}

function Scopes({ scopes }: { scopes: readonly string[] }) {
  const shown = scopes.slice(0, 2);
  const rest = scopes.slice(2);
  return (
    <span className="flex items-center gap-1">
      {shown.map(scope => (
        <Badge key={scope} className="font-mono">
          {scope}
        </Badge>
      ))}
      {rest.length > 0 ? (
        <Tooltip content={rest.join(', ')}>
          <button type="button" aria-label={`${rest.length} more: ${rest.join(', ')}`}>
            <Badge>+{rest.length}</Badge>
          </button>
        </Tooltip>
      ) : null}
    </span>
  );
}

function Expiry({ at }: { at: string | null }) {
  const now = useNow();
  if (at === null) return <span className="text-faint">Never</span>;
  return now > 0 && Date.parse(at) <= now ? <Badge tone="bad">Expired</Badge> : <RelativeTime at={at} />;
}

/** Reveals a key that was not copied when it was created. The user must confirm, because the stored copy is destroyed. */
function RevealDialog({ pat, onClose }: { pat: Pat; onClose: () => void }) {
  const client = useTRPCClient();
  const reveal = useMutation({ mutationFn: () => client.pats_reveal.query({ id: pat.id }) });
  const problem = reveal.error ? readError(reveal.error) : null;
  return (
    <Dialog
      open
      onOpenChange={open => !open && onClose()}
      title={`Reveal ${pat.display_name}`}
      footer={
        reveal.data || problem ? (
          <Button variant="primary" onClick={onClose}>
            Done
          </Button>
        ) : (
          <>
            <Button onClick={onClose}>Cancel</Button>
            <Button variant="primary" pending={reveal.isPending} onClick={() => reveal.mutate()}>
              Reveal
            </Button>
          </>
        )
      }
    >
      {reveal.data ? (
        <CopyField label="API key" value={reveal.data.token} />
      ) : problem ? (
        <p role="alert" className="text-sm text-bad">
          {problem.status === 404 ? 'This key was revealed before. Create a new one if it is lost.' : problem.message}
        </p>
      ) : (
        <p className="text-sm text-muted">The key can be read once more. After that the stored copy is destroyed.</p>
      )}
    </Dialog>
  );
}

function RevokeConfirm({
  pat,
  open,
  onOpenChange,
}: {
  pat: Pat;
  open: boolean;
  onOpenChange: (open: boolean) => void;
}) {
  const trpc = useTRPC();
  const queries = useQueryClient();
  const revoke = useMutation(
    trpc.pats_revoke.mutationOptions({
      onSuccess: ({ also_revoked: others }) => {
        onOpenChange(false);
        const names = others.map(other => other.display_name).join(', ');
        toast.success(`${pat.display_name} is revoked`, names === '' ? {} : { description: `Also revoked: ${names}` });
        return queries.invalidateQueries(trpc.pats_list.queryFilter());
      },
    }),
  );
  return (
    <Confirm
      open={open}
      onOpenChange={onOpenChange}
      title={`Revoke ${pat.display_name}?`}
      action="Revoke"
      pending={revoke.isPending}
      error={revoke.error ? readError(revoke.error).message : null}
      onConfirm={() => revoke.mutate({ id: pat.id })}
    >
      Requests with this key, or with a key that it created, are refused from now on. This cannot be undone.
    </Confirm>
  );
}
