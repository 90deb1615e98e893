'use client';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useMemo } from 'react';
import { useSession } from '../session/session.tsx';
import { type Outputs, useTRPC, useTRPCClient } from '../trpc/provider.tsx';
import type { EditorStore, Person } from './editor-store.ts';

const ANNOUNCE_EVERY_MS = 15_000;

/** Returns people of an answer of the API as the editor has them. */
export const toPeople = (editors: Outputs['workflows_list_editors']['saved']): Person[] =>
  editors.map(({ user_id: id, name }) => ({ id, name }));

/**
 * Returns who else has the draft open in an editor. While this page is in view, it asks every 15 seconds, announces the user with it
 * (`announces`), and shows what others have saved. A page that is hidden or closed is forgotten after 40 seconds.
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
    // The next interval asks again.
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
