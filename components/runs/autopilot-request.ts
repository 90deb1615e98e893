/** The requests that people make to Autopilot with one click, about a workflow or about a run of it. */
export const autopilotRequests = {
  explain: { label: 'Explain this workflow', text: 'Explain what this workflow does, step by step.', ofRun: false },
  improve: { label: 'Find what could go wrong', text: 'What could go wrong in this workflow?', ofRun: false },
  why: { label: 'Explain', text: 'Why did this run fail?', ofRun: true },
  fix: {
    label: 'Fix with Autopilot',
    text: 'Fix this run: propose a change to the workflow, and try it from the step that failed.',
    ofRun: true,
  },
} as const;
export type AutopilotRequest = keyof typeof autopilotRequests;

export const isAutopilotRequest = (name: string): name is AutopilotRequest => Object.hasOwn(autopilotRequests, name);

/** Returns the page of the workflow with a request to Autopilot about a run filled in. */
export function askHref(workflowId: string, runId: string, ask: AutopilotRequest): string {
  return `/workflows/${workflowId}?${new URLSearchParams({ panel: 'autopilot', ask, about: runId }).toString()}`;
}
