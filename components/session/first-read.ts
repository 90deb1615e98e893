'use client';
import { hashKey } from '@tanstack/react-query';
import type { Inputs, Outputs } from '../trpc/provider.tsx';
import type { Scope } from '../trpc/scope.ts';
import { useSession } from './session.tsx';

/** The answer of one query that the server read while it rendered the page (app/(console)/read-first.ts). */
export type FirstRead<N extends keyof Inputs & keyof Outputs> = {
  input: Inputs[N];
  /** Where it was read: a navigation is served in the scope that another tab may have chosen since. */
  scope: Scope;
  /** ms since the epoch, by the server's clock. */
  at: number;
  data: Outputs[N];
};

type Options<N extends keyof Inputs & keyof Outputs> = { initialData?: Outputs[N]; initialDataUpdatedAt?: number };

/**
 * The options that let a query begin with what the server has read, so that the first rows are in the page itself; none
 * where that is the answer to another input or of another scope, and the browser then reads it.
 */
export function useFirstRead<N extends keyof Inputs & keyof Outputs>(
  first: FirstRead<N> | null | undefined,
  input: NoInfer<Inputs[N]>,
): Options<N> {
  return startOf(first, input, useSession().scope);
}

/** The same for a given scope. */
export function startOf<N extends keyof Inputs & keyof Outputs>(
  first: FirstRead<N> | null | undefined,
  input: NoInfer<Inputs[N]>,
  scope: Scope,
): Options<N> {
  if (!first || hashKey([first.input, first.scope]) !== hashKey([input, scope])) return {};
  return { initialData: first.data, initialDataUpdatedAt: first.at };
}
