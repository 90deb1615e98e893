import type { GraphStepInput } from './layout.ts';

type Step = Readonly<Record<string, unknown>>;

/** Returns the id of the workflow or the agent that a step names, or null. */
export function calledBy(step: Step): string | null {
  const id = step.type === 'call_workflow' ? step.workflow_id : step.type === 'agent' ? step.agent_id : null;
  // The id in a template is unknown until the template is rendered.
  return typeof id === 'string' && id !== '' && !id.includes('{{') ? id : null;
}

/** Returns the kinds (workflow, agent) that the steps of a graph name by id, including steps in loops. */
export function kindsCalled(steps: readonly GraphStepInput[]): { workflows: boolean; agents: boolean } {
  const found = { workflows: false, agents: false };
  const look = (list: readonly unknown[]) => {
    for (const step of list as readonly Step[]) {
      if (step?.type === 'for_each' && Array.isArray(step.steps)) look(step.steps);
      else if (step != null && calledBy(step) !== null) found[step.type === 'agent' ? 'agents' : 'workflows'] = true;
    }
  };
  look(steps);
  return found;
}
