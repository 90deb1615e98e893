import type { Context } from '../../../operation/context.ts';
import type { GraphStep } from '../../../orchestrator/core/index.ts';
import type { StepTrial } from '../../../orchestrator/ports/step-type.ts';
import { instancesOf, startsRuns } from '../../../orchestrator/steps/agent/reach.ts';
import { type ErrorDetail, invalid } from '../../../platform/errors.ts';
import { isId } from '../../../platform/ids.ts';
import { settingsOf } from '../../agents/settings.ts';
import { findServerUrl } from '../../mcp-servers/calls/binding.ts';
import { findWorkflow } from '../../workflows/store.ts';
import { projectScope } from '../../workflows/view.ts';
import type { ReplaceableStep } from './stand-ins.ts';

/** Returns the hosts with ports to which a step may send data; null if only the run decides the host. */
export async function hostsOf(ctx: Context, step: GraphStep, trial: StepTrial | undefined): Promise<string[] | null> {
  const reached = trial?.reaches === undefined ? {} : trial.reaches(step);
  if (reached === null) return null;
  const urls: (string | null)[] = [...(reached.urls ?? [])];
  const agentInstances = await instancesOfAgents(ctx, reached.agents ?? []);
  if (agentInstances === null) return null;
  for (const instance of [...(reached.instances ?? []), ...agentInstances]) {
    urls.push(await findServerUrl(ctx.services, { ...projectScope(ctx), instanceId: instance }));
  }
  const hosts = urls.map(url => (url === null ? null : (URL.parse(url)?.host ?? null)));
  return hosts.includes(null) ? null : [...new Set(hosts.filter(host => host !== null))].sort();
}

/** Returns the MCP instances of these agents' tools; null if an agent can start runs, because those may send data anywhere. */
async function instancesOfAgents(ctx: Context, ids: readonly string[]): Promise<string[] | null> {
  const found: string[] = [];
  for (const id of ids) {
    const agent = isId(id) ? await findWorkflow(ctx.services.prisma, projectScope(ctx), id) : null;
    if (agent?.kind !== 'agent') continue;
    const { tools } = settingsOf(agent.graph);
    if (startsRuns(tools)) return null;
    found.push(...instancesOf(tools));
  }
  return found;
}

/** Requires that a person has named each host to which the steps may send data. Throws AppError 422 `host_unknown`, `host_not_named`. */
export function requireHosts(executed: readonly ReplaceableStep[], named: readonly string[]): void {
  const unknown = executed.flatMap(({ step, hosts }): ErrorDetail[] =>
    hosts === null
      ? [
          {
            path: 'really',
            code: 'host_unknown',
            step_id: step,
            message: `only the run decides to which host "${step}" sends`,
          },
        ]
      : [],
  );
  if (unknown.length > 0)
    throw invalid('The hosts of these steps are not known before the run.', unknown, 'host_unknown');
  const agreed = new Set(named.map(host => host.trim().toLowerCase()));
  const missing = [...new Set(executed.flatMap(({ hosts }) => hosts ?? []))].filter(host => !agreed.has(host));
  if (missing.length === 0) return;
  const details = missing.map(host => ({
    path: 'hosts',
    code: 'host_not_named',
    message: `${host} would receive what the steps send`,
  }));
  throw invalid('Name each host to which the steps may send something.', details, 'host_not_named');
}
