/** Returns the page of a proposal: the editor of its workflow, or a separate page for a new workflow. */
export function proposalHref(id: string, workflowId: string | null): string {
  return workflowId === null
    ? `/workflows/proposals/${id}`
    : `/workflows/${workflowId}?${new URLSearchParams({ panel: 'autopilot', proposal: id }).toString()}`;
}
