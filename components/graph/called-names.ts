import type { GraphStepInput } from './layout.ts';

type Step = Readonly<Record<string, unknown>>;

/** Returns the id of the workflow or the agent that a step names, if it names one. */
export function calledBy(step: Step): string | null {
  const id = step.type === 'call_workflow' ? step.workflow_id : step.type === 'agent' ? step.agent_id : null;
  // A template names none before it is filled in.
  return typeof id === 'string' && id !== '' && !id.includes('{{') ? id : null;
}

/** The kinds of things that the steps of a graph name, also within loops: a workflow, an agent. */
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
