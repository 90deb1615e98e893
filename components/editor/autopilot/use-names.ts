'use client';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { useTRPC } from '../../trpc/provider.tsx';

/** Returns a function that maps an address to the name of the member, or to the address itself for other people. */
export function useNames(): (email: string) => string {
  const trpc = useTRPC();
  const { data } = useQuery(trpc.members_list.queryOptions({ limit: 100 }, { staleTime: 60_000 }));
  return useMemo(() => {
    const names = new Map(data?.members.map(({ email, name }) => [email, name] as const));
    return email => names.get(email) ?? email;
  }, [data]);
}
