import type { GraphStepInput } from './layout.ts';

type Step = Readonly<Record<string, unknown>>;

/** Returns the id of the workflow or agent that a step calls, or null. */
export function calledBy(step: Step): string | null {
  const id = step.type === 'call_workflow' ? step.workflow_id : step.type === 'agent' ? step.agent_id : null;
  // The id in a template is unknown until the template is rendered.
  return typeof id === 'string' && id !== '' && !id.includes('{{') ? id : null;
}

/** Returns whether the steps of a graph, including steps in loops, refer to workflows and to agents by id. */
export function kindsCalled(steps: readonly GraphStepInput[]): { workflows: boolean; agents: boolean } {
  const found = { workflows: false, agents: false };
  const visit = (list: readonly unknown[]) => {
    for (const step of list as readonly Step[]) {
      if (step?.type === 'for_each' && Array.isArray(step.steps)) visit(step.steps);
      else if (step != null && calledBy(step) !== null) found[step.type === 'agent' ? 'agents' : 'workflows'] = true;
    }
  };
  visit(steps);
  return found;
}
