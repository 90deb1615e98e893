/** A node whose event loop is busy answers late. */
const PROBE_TIMEOUT_MS = 2_000;

/** `other`: the address leads to another node. */
export type ProbeResult = 'answers' | 'silent' | 'other';
export type Probe = (node: { id: string; url: string }, closing: AbortSignal) => Promise<ProbeResult>;

/** Asks a node whether it is there. A node that is still starting does not say which one it is. */
export const probeByHttp: Probe = async ({ id, url }, closing) => {
  try {
    const signal = AbortSignal.any([AbortSignal.timeout(PROBE_TIMEOUT_MS), closing]);
    const response = await fetch(`${url}/healthz`, { signal, redirect: 'manual' });
    const body: unknown = await response.json();
    if (response.status !== 200) return 'silent';
    const node = typeof body === 'object' && body !== null && 'node' in body ? body.node : id;
    return node === id ? 'answers' : 'other';
  } catch {
    return 'silent';
  }
};
