'use client';
import { useRef, useState } from 'react';
import { useTRPCClient } from '../trpc/provider.tsx';
import { readError } from '../ui/errors.ts';
import { toast } from '../ui/toaster.tsx';
import { useRefreshMemory } from './use-refresh-memory.ts';
import { counted, type Item } from './words.ts';

export type Decision = 'accept' | 'reject';

/**
 * Accepts and rejects proposals. `decided`: the items that are hidden before the server answers. Items that the server
 * refuses appear again.
 */
export function useDecisions(): {
  decided: ReadonlySet<string>;
  decide: (items: readonly Item[], decision: Decision) => void;
} {
  const client = useTRPCClient();
  const refresh = useRefreshMemory();
  const [decided, setDecided] = useState<ReadonlySet<string>>(new Set());
  const inProgress = useRef(0);
  const send = async (items: readonly Item[], decision: Decision) => {
    const answers = await Promise.allSettled(
      items.map(({ id }) =>
        decision === 'accept'
          ? client.memory_confirm_item.mutate({ id })
          : client.memory_items_patch.mutate({ id, status: 'rejected' }),
      ),
    );
    const refused = items.filter((_, at) => answers[at]?.status === 'rejected');
    const reason = answers.find(answer => answer.status === 'rejected')?.reason;
    if (refused.length > 0) {
      setDecided(before => new Set([...before].filter(id => !refused.some(item => item.id === id))));
      const title = `${counted(refused.length, 'proposal')} could not be ${decision === 'accept' ? 'accepted' : 'rejected'}`;
      toast.error(title, { description: readError(reason).message });
    }
    inProgress.current -= 1;
    // The list is refreshed after the last decision, because an earlier refresh would show later decisions again.
    if (inProgress.current > 0) return;
    await refresh();
    if (inProgress.current === 0) setDecided(new Set());
  };
  const decide = (items: readonly Item[], decision: Decision) => {
    inProgress.current += 1;
    setDecided(before => new Set([...before, ...items.map(({ id }) => id)]));
    void send(items, decision);
  };
  return { decided, decide };
}
