'use client';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { mayAnswer } from '../inbox/may-answer.ts';
import { BROWSER_NEWS, useBrowserWanted } from '../notifications/browser-wanted.ts';
import { useSession } from '../session/session.tsx';
import { useTRPC, useTRPCClient } from '../trpc/provider.tsx';

const INPUT = { limit: 50 };

/**
 * Tasks in the tenant that wait for an answer that the user may give, as text ("3", "50+"); undefined while unknown or none,
 * null if they cannot be read. The same poll reads the notifications for this browser where the user wants any, also while the tab is in the background.
 */
export function useInboxCount(): string | null | undefined {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const queries = useQueryClient();
  const isWanted = useBrowserWanted();
  const { me } = useSession();
  const readNews = async () => {
    const news = await client.me_notifications_deliveries_list.query(BROWSER_NEWS);
    queries.setQueryData(trpc.me_notifications_deliveries_list.queryKey(BROWSER_NEWS), news);
  };
  const readTasks = async () => {
    const tasks = client.tasks_list_pending.query(INPUT);
    // At the same moment, so that both are one request; the number beside the inbox does not depend on the news.
    if (isWanted) void readNews().catch(() => undefined);
    return tasks;
  };
  const { data, isError } = useQuery({
    ...trpc.tasks_list_pending.queryOptions(INPUT),
    queryFn: readTasks,
    refetchInterval: 5_000,
    refetchIntervalInBackground: isWanted,
    staleTime: 2_000,
  });
  if (isError) return null;
  const count = data?.tasks.filter(task => mayAnswer(task, me)).length ?? 0;
  if (count === 0) return undefined;
  return data?.next_cursor ? `${count}+` : String(count);
}
