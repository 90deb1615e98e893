'use client';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useMemo } from 'react';
import { useSession } from '../session/session.tsx';
import { type Outputs, useTRPC, useTRPCClient } from '../trpc/provider.tsx';
import type { EditorStore, Person } from './editor-store.ts';

const ANNOUNCE_EVERY_MS = 15_000;

/** Converts people of an API response to the people of the editor. */
export const toPeople = (editors: Outputs['workflows_list_editors']['saved']): Person[] =>
  editors.map(({ user_id: id, name }) => ({ id, name }));

/**
 * Returns the other people who have the draft open in an editor. While the page is visible, it polls every 15 seconds, announces the user
 * if `announces` is set, and loads changes that others have saved. The server forgets a hidden or closed page after 40 seconds.
 */
export function useEditors(id: string, store: EditorStore, announces: boolean): readonly Person[] {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const { me } = useSession();
  const { data } = useQuery({
    queryKey: [...trpc.workflows_list_editors.pathKey(), id, announces],
    queryFn: ({ signal }) =>
      announces
        ? client.workflows_announce_editor.mutate({ id }, { signal })
        : client.workflows_list_editors.query({ id }, { signal }),
    refetchInterval: ANNOUNCE_EVERY_MS,
    staleTime: ANNOUNCE_EVERY_MS,
    gcTime: 0,
    // No retries: the next interval sends the request again.
    retry: false,
  });
  useEffect(() => {
    if (!announces) return;
    return () => void client.workflows_announce_editor.mutate({ id, editing: false }).catch(() => undefined);
  }, [id, client, announces]);
  useEffect(() => {
    if (data !== undefined && data.etag !== store.base.etag) void store.pull();
  }, [data, store]);
  return useMemo(() => toPeople(data?.editing ?? []).filter(person => person.id !== me.user.id), [data, me.user.id]);
}
