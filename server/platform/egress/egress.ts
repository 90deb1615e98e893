/**
 * The one way out of the process: every request to an address that a user named goes through here (decisions.md, MCP servers
 * and instances). It resolves, refuses what is private, and connects to the very address it checked, at every redirect anew.
 */
export type Egress = {
  /** Like the global fetch. Rejects with EgressRefused, or with fetch's own TypeError for what went wrong on the wire. */
  readonly fetch: typeof globalThis.fetch;
  /** Whether `url` may be called as it stands: scheme, credentials in it, literal addresses, and what its name resolves to now. Rejects with EgressRefused. */
  check(url: string | URL): Promise<void>;
  /** Ends kept connections. */
  close(): Promise<void>;
};

/** A request that may not leave. The message names the host and the rule, never an address that a name resolved to. */
export class EgressRefused extends Error {
  readonly code = 'egress_refused';
  constructor(message: string) {
    super(message);
    this.name = 'EgressRefused';
  }
}
