/** The page that shows a proposal: beside the graph of its workflow, or by itself while there is none. */
export function proposalHref(id: string, workflowId: string | null): string {
  return workflowId === null
    ? `/workflows/proposals/${id}`
    : `/workflows/${workflowId}?${new URLSearchParams({ panel: 'autopilot', proposal: id }).toString()}`;
}
