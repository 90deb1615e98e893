const key = (workflowId: string) => `baton:autopilot-thread:${workflowId}`;

/** The conversation about a workflow that is open in this tab; null where there is none or the browser keeps nothing. */
export function keptThread(workflowId: string): string | null {
  try {
    return window.sessionStorage.getItem(key(workflowId));
  } catch {
    return null; // storage may be switched off
  }
}

/** Keeps the conversation while the tab is open; null forgets it. */
export function keepThread(workflowId: string, threadId: string | null): void {
  try {
    if (threadId === null) window.sessionStorage.removeItem(key(workflowId));
    else window.sessionStorage.setItem(key(workflowId), threadId);
  } catch {
    // Full or switched off: the conversation is found under Chat.
  }
}
