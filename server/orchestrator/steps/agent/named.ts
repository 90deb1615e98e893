import { z } from 'zod';
import type { GraphStep } from '../../core/index.ts';
import type { Attempt, CheckScope, Outcome, StepProblem } from '../../ports/step-type.ts';
import { agentFields } from './settings.ts';
import type { AgentSource } from './source.ts';

/** The settings of an agent. Unknown fields of a later version of the service are ignored. */
const Settings = z.object(agentFields);
type Settings = z.output<typeof Settings>;
type Limits = NonNullable<Settings['limits']>;

/** The fields that a step may have in addition to `agent_id`. */
const OWN_FIELDS: ReadonlySet<string> = new Set(['limits']);

/** Returns problems with the source of a step's agent, which is either an agent of the project or the step's own fields. */
export async function checkSource(
  step: GraphStep,
  scope: CheckScope,
  { agents }: { agents?: AgentSource | undefined },
): Promise<StepProblem[]> {
  const { agent_id: id } = step;
  if (id === undefined) {
    if (step.model !== undefined) return [];
    return [{ path: 'model', code: 'missing_field', message: 'is needed without agent_id' }];
  }
  const both = Object.keys(agentFields).filter(field => !OWN_FIELDS.has(field) && step[field] !== undefined);
  const conflicts = both.map(path => ({
    path,
    code: 'field_conflict',
    message: 'is the agent’s own: leave it out with agent_id',
  }));
  const unknown = typeof id === 'string' ? await agents?.check(scope, id) : undefined;
  return [...conflicts, ...(unknown ?? [])];
}

/** The step that names an agent. */
type Naming = { agent_id?: string | undefined; limits?: Limits | undefined; prompt: string };
type Failed = Extract<Outcome, { kind: 'failed' }>;

/** Returns the fields of an inline step with the settings of the named agent, or the failure of the step. */
export async function namedAgent(
  { run }: Attempt,
  signal: AbortSignal,
  { step, agents }: { step: Naming; agents: AgentSource | undefined },
): Promise<(Settings & Pick<Naming, 'prompt'> & { agent_id: string }) | Failed> {
  const found = await agents?.resolve(run, step.agent_id ?? '', signal);
  if (found === undefined) return asFailed('step_type_unavailable', 'This server has no agents.');
  if (found.kind === 'failed') return asFailed(found.code, found.message);
  const settings = Settings.parse(found.settings);
  const limits = stricterLimits(settings.limits ?? {}, step.limits ?? {});
  return { ...settings, limits, prompt: step.prompt, agent_id: found.agentId };
}

const asFailed = (code: string, message: string): Failed => ({
  kind: 'failed',
  error: { code, message },
  retryable: false,
});

/** Returns the stricter of each pair of limits, because a step can only lower the limits of the agent that it names. */
export function stricterLimits(agent: Limits, step: Limits): Limits {
  const names = [...new Set([...Object.keys(agent), ...Object.keys(step)])] as (keyof Limits)[];
  const least = (name: keyof Limits) => Math.min(agent[name] ?? Infinity, step[name] ?? Infinity);
  return Object.fromEntries(names.map(name => [name, least(name)]).filter(([, limit]) => limit !== Infinity));
}
