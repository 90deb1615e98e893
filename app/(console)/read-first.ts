import type { FirstRead } from '../../components/trpc/first-read.ts';
import type { Inputs, Outputs } from '../../components/trpc/provider.tsx';
import { scopeHeaders } from '../../components/trpc/scope.ts';
import { container } from '../container.ts';
import { ask, loadMeIfAny } from './load-me.ts';

/**
 * Reads the answer of a query for the page that is being rendered, as its browser would: the same call, with the same
 * session and scope. Null where there is none (signed out, refused, failed): the browser then asks, and shows why.
 */
export async function readFirst<N extends keyof Inputs & keyof Outputs>(
  query: N,
  input: NoInfer<Inputs[N]>,
): Promise<FirstRead<N> | null> {
  const { me } = await loadMeIfAny();
  if (!me) return null;
  const scope = { tenant: me.tenant.id, project: me.project.id };
  const at = container().services.clock.now();
  const search = new URLSearchParams({ input: JSON.stringify(input) });
  const response = await ask(`/api/trpc/${query}?${search}`, scopeHeaders(scope));
  if (!response.ok) return null;
  const { result } = (await response.json()) as { result: { data: Outputs[N] } };
  return { input, scope, at, data: result.data };
}

/** Search parameters as `useUrlState` gives them to the browser: the first value, or none. */
export function readerOf(params: Record<string, string | string[] | undefined>): (key: string) => string {
  return key => [params[key]].flat()[0] ?? '';
}
