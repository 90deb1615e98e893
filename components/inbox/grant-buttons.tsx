'use client';
import { CheckCheck } from 'lucide-react';
import { Button } from '../ui/button.tsx';

export type GrantFor = 'agent' | 'thread';
const labels: Record<GrantFor, string> = { thread: 'Always in this chat', agent: 'Always for this agent' };

type Props = {
  grants: readonly GrantFor[];
  /** The grant that is being sent. */
  pending: GrantFor | null;
  disabled?: boolean;
  size?: 'sm';
  onGrant: (grant: GrantFor) => void;
};

/** Buttons that approve a call and similar calls from now on; none if no grant is possible. */
export function GrantButtons({ grants, pending, disabled = false, size, onGrant }: Props) {
  if (grants.length === 0) return null;
  const shown = (['thread', 'agent'] as const).filter(each => grants.includes(each));
  return (
    <div className="flex w-full flex-col gap-1.5">
      <p className="text-xs text-muted">Or approve it and allow all further calls of this tool, with any arguments:</p>
      <div className="flex flex-wrap gap-2">
        {shown.map(each => (
          <Button
            key={each}
            {...(size && { size })}
            disabled={disabled}
            pending={pending === each}
            icon={<CheckCheck aria-hidden className="size-3.5" />}
            onClick={() => onGrant(each)}
          >
            {labels[each]}
          </Button>
        ))}
      </div>
    </div>
  );
}
