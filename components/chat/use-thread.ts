'use client';
import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type Outputs, useTRPC, useTRPCClient } from '../trpc/provider.tsx';
import { toastError } from '../ui/toaster.tsx';
import type { Message } from './branches.ts';

export type Thread = Outputs['chat_get_thread'];
/** The polling interval for a thread. Messages sent in another tab or elsewhere appear within this time. */
const REFRESH_MS = 3_000;
const PAGE = 100;
/** The maximum number of pages of messages. A longer thread shows its last messages. */
const MAX_PAGES = 20;

/** Returns the queries of a thread and of its messages in all branches. */
export function useThread(id: string) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const thread = useQuery(trpc.chat_get_thread.queryOptions({ id }, { refetchInterval: REFRESH_MS }));
  const { message_count, active_run_id, head_id, updated_at } = thread.data ?? {};
  const messages = useQuery({
    // Messages change only together with their thread.
    queryKey: [...trpc.chat_list_messages.queryKey({ id }), message_count, active_run_id, head_id, updated_at],
    queryFn: async ({ signal }) => {
      const found: Message[] = [];
      let cursor: string | null = null;
      for (let page = 0; page < MAX_PAGES && (page === 0 || cursor !== null); page += 1) {
        const from: { cursor?: string } = cursor === null ? {} : { cursor };
        const read: Outputs['chat_list_messages'] = await client.chat_list_messages.query(
          { id, limit: PAGE, order: 'desc', ...from },
          { signal },
        );
        found.push(...read.messages);
        cursor = read.next_cursor;
      }
      return found.reverse();
    },
    enabled: thread.data !== undefined,
    placeholderData: keepPreviousData,
  });
  return { thread, messages };
}

/** Returns the mutations of a thread. Each reads the thread again on success, and shows errors. */
export function useThreadActions(id: string) {
  const trpc = useTRPC();
  const queries = useQueryClient();
  const onSuccess = () =>
    Promise.all([
      queries.invalidateQueries(trpc.chat_get_thread.queryFilter({ id })),
      queries.invalidateQueries(trpc.chat_list_threads.pathFilter()),
    ]);
  const options = { onSuccess, onError: toastError };
  return {
    // The composer shows this error beside the text.
    send: useMutation(trpc.chat_send_message.mutationOptions({ onSuccess })),
    sendToAutopilot: useMutation(trpc.autopilot_chat.mutationOptions({ onSuccess })),
    regenerate: useMutation(trpc.chat_regenerate.mutationOptions(options)),
    stop: useMutation(trpc.chat_stop.mutationOptions(options)),
    patch: useMutation(trpc.chat_patch_thread.mutationOptions(options)),
    fork: useMutation(trpc.chat_fork_thread.mutationOptions(options)),
    archive: useMutation(trpc.chat_archive_thread.mutationOptions(options)),
  };
}

/** Returns an id for a message, so that repeated requests send it once. */
export function newMessageId(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map(byte => byte.toString(16).padStart(2, '0')).join('');
}
