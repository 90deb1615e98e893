'use client';
import { hashKey } from '@tanstack/react-query';
import type { Inputs, Outputs } from '../trpc/provider.tsx';
import type { Scope } from '../trpc/scope.ts';
import { useSession } from './session.tsx';

/** The answer to a query that the server sent while rendering the page (app/(console)/read-first.ts). */
export type FirstRead<N extends keyof Inputs & keyof Outputs> = {
  input: Inputs[N];
  /** The scope of the answer: another tab may have changed the scope before the page was rendered. */
  scope: Scope;
  /** The server's time, in ms since the epoch. */
  at: number;
  data: Outputs[N];
};

type Options<N extends keyof Inputs & keyof Outputs> = { initialData?: Outputs[N]; initialDataUpdatedAt?: number };

/**
 * Returns query options with the server's answer as initial data, so that the page itself contains the first rows. An
 * answer to another input or of another scope is ignored, and the browser then sends the query.
 */
export function useFirstRead<N extends keyof Inputs & keyof Outputs>(
  first: FirstRead<N> | null | undefined,
  input: NoInfer<Inputs[N]>,
): Options<N> {
  return startOf(first, input, useSession().scope);
}

/** Returns the same options for a given scope. */
export function startOf<N extends keyof Inputs & keyof Outputs>(
  first: FirstRead<N> | null | undefined,
  input: NoInfer<Inputs[N]>,
  scope: Scope,
): Options<N> {
  if (!first || hashKey([first.input, first.scope]) !== hashKey([input, scope])) return {};
  return { initialData: first.data, initialDataUpdatedAt: first.at };
}
