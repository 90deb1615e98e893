const key = (workflowId: string) => `baton:autopilot-thread:${workflowId}`;

/** Returns the open conversation of this tab about a workflow; null for none, or without storage. */
export function keptThread(workflowId: string): string | null {
  try {
    return window.sessionStorage.getItem(key(workflowId));
  } catch {
    return null; // storage may be switched off
  }
}

/** Stores the open conversation of this tab. Null removes it. */
export function keepThread(workflowId: string, threadId: string | null): void {
  try {
    if (threadId === null) window.sessionStorage.removeItem(key(workflowId));
    else window.sessionStorage.setItem(key(workflowId), threadId);
  } catch {
    // Storage may be full or switched off. The conversation is still listed under Chat.
  }
}
