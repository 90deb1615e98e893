import type { FirstRead } from '../../components/session/first-read.ts';
import type { Inputs, Outputs } from '../../components/trpc/provider.tsx';
import { scopeHeaders } from '../../components/trpc/scope.ts';
import { readJson } from '../../server/platform/json-text.ts';
import { container } from '../container.ts';
import { ask, loadMeIfAny } from './load-me.ts';

/**
 * Reads the answer of a query for the page that is being rendered: the same call as the browser's, with the same
 * session and scope. Returns null if there is no answer (signed out, refused, failed): the browser then sends the query
 * and shows the reason.
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
  const { result } = readJson(await response.text()) as { result: { data: Outputs[N] } };
  return { input, scope, at, data: result.data };
}

/**
 * Above this many steps, the browser reads the run itself. A page of 2,000 steps takes the server 200 ms, during which
 * it answers no other request; the browser reads them in 100 ms.
 */
const MAX_STEPS = 500;

/** Reads the state of a run and the version that it runs, for its page. A large run is left to the browser. */
export async function readRunFirst(
  id: string,
  runID: string,
): Promise<{ snapshot: FirstRead<'runs_get_snapshot'> | null; version: FirstRead<'workflows_get_version'> | null }> {
  const snapshot = await readFirst('runs_get_snapshot', { id, runID });
  if (!snapshot || snapshot.data.steps.length + snapshot.data.added_steps.of_agents.length > MAX_STEPS)
    return { snapshot: null, version: null };
  return { snapshot, version: await readFirst('workflows_get_version', { id, version: snapshot.data.version }) };
}

/** Returns a reader of search parameters like that of `useUrlState`: it returns the first value, or an empty text. */
export function readerOf(params: Record<string, string | string[] | undefined>): (key: string) => string {
  return key => [params[key]].flat()[0] ?? '';
}
