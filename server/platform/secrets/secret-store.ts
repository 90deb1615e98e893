import { type AppError, unavailable } from '../errors.ts';

/**
 * A store of secrets (docs/specification/connections.md#secret-store). Adapters: `database`, `vault`. All throw AppError 503 if
 * the store is unavailable.
 */
export interface SecretStore {
  /** Stores or replaces a secret. `name` is a path such as `pat/<id>`. */
  put(tenantId: string, name: string, plaintext: string): Promise<void>;
  /** Returns the secret; null if there is none. */
  get(tenantId: string, name: string): Promise<string | null>;
  /** Returns the secret and destroys it in one step: only one of two callers gets it. */
  take(tenantId: string, name: string): Promise<string | null>;
  delete(tenantId: string, name: string): Promise<void>;
}

/** The error of an unavailable store. `cause` is logged, so it must not contain a secret. */
export function secretStoreUnavailable(cause: unknown): AppError {
  return unavailable('secret_store_unavailable', 'The secret store is unavailable.', 2, cause);
}
