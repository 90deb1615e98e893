/** The maximum time for which work waits for an idle page. */
const MAX_WAIT_MS = 2_000;

/** Calls `work` when the page is idle. Each call has its own callback, so that a phone can answer a tap in between. */
export function whenIdle(work: () => void): void {
  // Safari has no idle callbacks.
  if (typeof window.requestIdleCallback === 'function') window.requestIdleCallback(work, { timeout: MAX_WAIT_MS });
  else setTimeout(work, 200);
}
