import type { Scope } from '../trpc/scope.ts';

/** Parameters that a shared link leaves out: `run` opens a dialog, `cursor` is a position in a list. */
const OMITTED_PARAMETERS = ['run', 'cursor'];

/** Returns the address of a page with its workspace and project, without the parameters that only concern the present user. */
export function shareableUrl(address: string, { tenant, project }: Scope): string {
  const url = new URL(address);
  for (const name of OMITTED_PARAMETERS) url.searchParams.delete(name);
  url.searchParams.set('tenant', tenant);
  url.searchParams.set('project', project);
  url.hash = '';
  return url.href;
}
