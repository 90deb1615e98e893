'use client';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { useTRPC } from '../trpc/provider.tsx';

/** Returns what the members of the workspace are called; for anybody else, such as one who has left, the id. */
export function useNames(): (userId: string) => string {
  const trpc = useTRPC();
  const { data } = useQuery(trpc.members_list.queryOptions({ limit: 100 }, { staleTime: 60_000 }));
  return useMemo(() => {
    const names = new Map(data?.members.map(({ user_id, name }) => [user_id, name] as const));
    return userId => names.get(userId) ?? userId;
  }, [data]);
}
