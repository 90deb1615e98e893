'use client';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { mayAnswer } from '../inbox/may-answer.ts';
import { BROWSER_NEWS, useBrowserWanted } from '../notifications/browser-wanted.ts';
import { useSession } from '../session/session.tsx';
import { useTRPC, useTRPCClient } from '../trpc/provider.tsx';

const INPUT = { limit: 50 };

/**
 * Returns the number of the tenant's pending tasks that the user may answer, as text ("3", "50+"); undefined while
 * unknown or if there are none, null if they cannot be read. If the user wants browser notifications, the same poll
 * reads them, and it continues while the tab is in the background.
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
    // Sent together, so that both are one request. A failure of the notifications does not affect the count.
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
