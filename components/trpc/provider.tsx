'use client';
import { type QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { createTRPCClient, httpBatchLink, httpLink, splitLink } from '@trpc/client';
import type { inferRouterInputs, inferRouterOutputs } from '@trpc/server';
import { createTRPCContext } from '@trpc/tanstack-react-query';
import { type ReactNode, useState } from 'react';
import type { AppRouter } from '@/server/api/trpc.ts';
import { PLAIN_JSON } from '@/server/operation/trpc-transformer.ts';
import { readError } from '../ui/errors.ts';
import { ConsoleQueryClient } from './query-client.ts';
import { type Scope, scopeHeaders } from './scope.ts';
import { untilSignedIn } from './session-gate.ts';

export type Inputs = inferRouterInputs<AppRouter>;
export type Outputs = inferRouterOutputs<AppRouter>;

const context = createTRPCContext<AppRouter>();
/** `useTRPC().workflows_list.queryOptions({…})` for TanStack Query; `useTRPCClient()` for a call outside of it. */
export const { useTRPC, useTRPCClient } = context;

/** The context of a call in another project than the current one: `trpc: { context: inScope(scope) }`. */
export function inScope(scope: Scope): { scope: Scope } {
  return { scope };
}

/**
 * The context of a call that changes exactly the version that was read: `trpc: { context: ifMatch(etag) }`. Returns 412 if it has changed
 * since.
 */
export function ifMatch(etag: string): { ifMatch: string } {
  return { ifMatch: etag };
}

function callHeaders(context: Record<string, unknown>): Record<string, string> {
  return typeof context.ifMatch === 'string' ? { 'If-Match': context.ifMatch } : {};
}

function scopeOf(context: Record<string, unknown>): Scope | undefined {
  const scope = context.scope;
  return typeof scope === 'object' && scope !== null && 'tenant' in scope && 'project' in scope
    ? { tenant: String(scope.tenant), project: String(scope.project) }
    : undefined;
}

/**
 * Matches numbers that JSON.parse may round. The exact parser is loaded only for them: it has 1 KiB, and most pages
 * never need it.
 */
const MAY_BE_INEXACT = /\d{16}|[:,[]-?\d[\d.]*e/i;

/** The maximum number of repetitions of a call whose session has ended, so that it cannot loop. */
const MAX_REPETITIONS = 3;

/**
 * A `fetch` whose answers keep the digits of large integers, which Response.json() rounds. After a 401 it waits until the person has signed
 * in again, and repeats the call: the server refused it before doing anything.
 */
const consoleFetch: typeof fetch = async (input, init) => {
  let response = await fetch(input, init);
  for (let n = 0; response.status === 401 && n < MAX_REPETITIONS && (await untilSignedIn(init?.signal)); n += 1)
    response = await fetch(input, init);
  response.json = async () => {
    const text = await response.text();
    return MAY_BE_INEXACT.test(text)
      ? (await import('@/server/platform/json-text.ts')).readJson(text)
      : JSON.parse(text);
  };
  return response;
};

function createClient(scope: Scope) {
  const call = { url: '/api/trpc', transformer: PLAIN_JSON, fetch: consoleFetch };
  return createTRPCClient<AppRouter>({
    links: [
      splitLink({
        // Headers apply to a whole batch, so a call with its own scope or condition is sent separately.
        condition: op => scopeOf(op.context) !== undefined || op.context.ifMatch !== undefined,
        true: httpLink({
          ...call,
          headers: ({ op }) => ({ ...scopeHeaders(scopeOf(op.context) ?? scope), ...callHeaders(op.context) }),
        }),
        false: httpBatchLink({ ...call, headers: () => scopeHeaders(scope), maxURLLength: 4000 }),
      }),
    ],
  });
}

function createQueryClient(): QueryClient {
  return new ConsoleQueryClient({
    defaultOptions: {
      queries: {
        staleTime: 5_000,
        // Retries only errors that may be temporary: no connection, or a server error.
        retry: (count, error) => {
          const { status } = readError(error);
          return count < 2 && (status === 0 || status >= 500);
        },
      },
    },
  });
}

/** Provides tRPC and TanStack Query. Set `key={tenant:project}`: each scope has its own cache. */
export function ApiProvider({ scope, children }: { scope: Scope; children: ReactNode }) {
  const [queryClient] = useState(createQueryClient);
  const [client] = useState(() => createClient(scope));
  return (
    <QueryClientProvider client={queryClient}>
      <context.TRPCProvider trpcClient={client} queryClient={queryClient}>
        {children}
      </context.TRPCProvider>
    </QueryClientProvider>
  );
}
