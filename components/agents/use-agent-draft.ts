'use client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { ifMatch, useTRPC } from '../trpc/provider.tsx';
import { readError } from '../ui/errors.ts';
import { toast } from '../ui/toaster.tsx';
import { type Agent, type AgentDraft, draftOf, isSame, patchOf } from './agent-draft.ts';

export type AgentEditing = {
  draft: AgentDraft;
  setDraft: (draft: AgentDraft) => void;
  isChanged: boolean;
  problems: Readonly<Record<string, string>>;
  /** The error that belongs to no field. */
  error: unknown;
  isSaving: boolean;
  /** Saves the changes. Resolves to true if the agent is saved. */
  save: () => Promise<boolean>;
  discard: () => void;
};

/** Returns the form of an agent with its problems. Saving over a change by others is a conflict. */
export function useAgentDraft(agent: Agent): AgentEditing {
  const trpc = useTRPC();
  const queries = useQueryClient();
  const [base, setBase] = useState(agent);
  const [draft, setDraft] = useState(() => draftOf(agent));
  const [invalid, setInvalid] = useState<Readonly<Record<string, string>>>({});
  const isChanged = !isSame(draft, draftOf(base));
  // Without local changes, the form follows changes by others.
  useEffect(() => {
    if (isChanged || agent.etag === base.etag) return;
    setBase(agent);
    setDraft(draftOf(agent));
  }, [agent, base, isChanged]);
  const patch = useMutation(trpc.agents_patch.mutationOptions({ trpc: { context: ifMatch(base.etag) } }));
  const details = patch.error ? readError(patch.error).details : [];
  const acceptSaved = (saved: Agent) => {
    setBase(saved);
    setDraft(draftOf(saved));
    queries.setQueryData(trpc.agents_get.queryKey({ id: saved.id }), saved);
    void queries.invalidateQueries(trpc.agents_list_versions.pathFilter());
    void queries.invalidateQueries(trpc.agents_list.queryFilter());
  };
  return {
    draft,
    setDraft,
    isChanged,
    problems: { ...Object.fromEntries(details.map(({ path, message }) => [path, message])), ...invalid },
    error: patch.error && details.length === 0 ? patch.error : null,
    isSaving: patch.isPending,
    discard: () => {
      patch.reset();
      setInvalid({});
      setBase(agent);
      setDraft(draftOf(agent));
    },
    save: async () => {
      if (!isChanged) return true;
      const read = patchOf(draft);
      setInvalid('problems' in read ? read.problems : {});
      if ('problems' in read) return false;
      try {
        acceptSaved(await patch.mutateAsync({ id: agent.id, ...read.patch }));
        toast.success('The agent is saved. New runs use it.');
        return true;
      } catch {
        // The mutation keeps the error, which the page shows.
        return false;
      }
    },
  };
}
