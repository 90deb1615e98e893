/** The requests that people make to Autopilot with one click, about a workflow or about a run of it. */
export const wishes = {
  explain: { label: 'Explain this workflow', text: 'Explain what this workflow does, step by step.', ofRun: false },
  improve: { label: 'Find what could go wrong', text: 'What could go wrong in this workflow?', ofRun: false },
  why: { label: 'Explain', text: 'Why did this run fail?', ofRun: true },
  fix: {
    label: 'Fix with Autopilot',
    text: 'Fix this run: propose a change to the workflow, and try it from the step that failed.',
    ofRun: true,
  },
} as const;
export type Wish = keyof typeof wishes;

export const isWish = (name: string): name is Wish => Object.hasOwn(wishes, name);

/** The page on which Autopilot is asked about a run, with the question filled in. */
export function askHref(workflowId: string, runId: string, ask: Wish): string {
  return `/workflows/${workflowId}?${new URLSearchParams({ panel: 'autopilot', ask, about: runId }).toString()}`;
}
