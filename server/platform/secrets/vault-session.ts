import { z } from 'zod';
import { type Clock, DAY_MS } from '../clock.ts';
import { limitBody } from '../egress/limit-body.ts';
import { secretStoreUnavailable } from './secret-store.ts';

export type VaultSettings = {
  /** Such as `https://vault.example:8200`. */
  address: string;
  /** The mount point of the KV v2 engine. */
  mount: string;
  /** Baton's folder in it. */
  prefix: string;
  namespace: string | undefined;
  credentials: { token: string } | { roleId: string; secretId: string };
};

export type VaultAnswer = { status: number; body: unknown };

export type VaultSessionOptions = {
  settings: Pick<VaultSettings, 'address' | 'namespace' | 'credentials'>;
  clock: Clock;
  /** Calls `ring` once after `delayMs`; returns a function that cancels it. */
  alarm: (delayMs: number, ring: () => void) => () => void;
  /** The time limit of one request, ms. */
  timeoutMs?: number;
};

/** A token and its expiry (ms since the epoch, null: never). */
type Lease = { token: string; expiresAt: number | null; renewable: boolean };

const authSchema = z.object({
  auth: z.object({ client_token: z.string().min(1), lease_duration: z.number(), renewable: z.boolean() }),
});
const lookupSchema = z.object({ data: z.object({ ttl: z.number(), renewable: z.boolean().default(false) }) });

/** A token that is renewed at two thirds of its lifetime survives one failed renewal. */
const RENEW_AT = 2 / 3;
/**
 * Near its maximum lifetime, Vault renews a token for shorter and shorter times. It is not
 * renewed more often than this.
 */
const MIN_WAIT_MS = 5_000;
/** A timer takes at most 24 days; renewing too early is harmless. */
const MAX_WAIT_MS = DAY_MS;
/** Vault accepts at most a megabyte; a far larger answer comes from something else at its address. */
const MAX_ANSWER_BYTES = 8 * 1024 * 1024;

/**
 * Sends requests to HashiCorp Vault or OpenBao with a token that it keeps alive: a configured token, or one from
 * logging in with an AppRole, which logs in again when its token was lost. The operator configures the address, so it
 * is not behind the egress guard. Rejects with AppError 503 `secret_store_unavailable` for all but success, 400 and
 * 404. No error contains Vault's answer, which may quote the request.
 */
export class VaultSession {
  readonly #settings: VaultSessionOptions['settings'];
  readonly #clock: Clock;
  readonly #alarm: VaultSessionOptions['alarm'];
  readonly #timeoutMs: number;
  #lease: Promise<Lease> | null = null;
  #cancelRenewal: () => void = () => {};
  #closed = false;

  constructor({ settings, clock, alarm, timeoutMs = 5_000 }: VaultSessionOptions) {
    this.#settings = settings;
    this.#clock = clock;
    this.#alarm = alarm;
    this.#timeoutMs = timeoutMs;
  }

  /** Sends one request; `path` follows `/v1/`. Logs in first if necessary, and once more if the token was refused. */
  async request(method: 'GET' | 'POST' | 'DELETE', path: string, body?: object): Promise<VaultAnswer> {
    const lease = await this.#open();
    const answer = await this.#send(method, path, lease.token, body);
    if (answer.status !== 403 || 'token' in this.#settings.credentials) return checked(answer);
    // The token of a role may have been revoked; a new token shows whether it was revoked or a policy refuses the request.
    const again = await this.#open(lease);
    return checked(await this.#send(method, path, again.token, body));
  }

  /** Ends the renewals; the token then expires. */
  close(): void {
    this.#closed = true;
    this.#cancelRenewal();
  }

  /** Returns the current lease, or a new one if it has expired or was `refused`. Waiting callers share one login. */
  async #open(refused?: Lease): Promise<Lease> {
    const pending = this.#lease;
    const present = await pending;
    const expired = present !== null && present.expiresAt !== null && present.expiresAt <= this.#clock.now();
    if (present !== null && present !== refused && !expired) return present;
    // A concurrent caller has replaced it meanwhile.
    if (this.#lease !== pending && this.#lease !== null) return this.#lease;
    const opening = this.#logIn();
    this.#lease = opening;
    opening.catch(() => {
      if (this.#lease === opening) this.#lease = null;
    });
    return opening;
  }

  async #logIn(): Promise<Lease> {
    const { credentials } = this.#settings;
    if ('token' in credentials) {
      const answer = await this.#send('GET', 'auth/token/lookup-self', credentials.token);
      const found = lookupSchema.safeParse(answer.body);
      if (answer.status !== 403) checked(answer);
      // A policy may forbid a token to look itself up. It is then used until Vault refuses it.
      const { ttl, renewable } = found.success ? found.data.data : { ttl: 0, renewable: false };
      return this.#keep(credentials.token, ttl, renewable);
    }
    const { roleId, secretId } = credentials;
    const answer = await this.#send('POST', 'auth/approle/login', undefined, { role_id: roleId, secret_id: secretId });
    return this.#keepAnswered(answer);
  }

  #keepAnswered(answer: VaultAnswer): Lease {
    const parsed = authSchema.safeParse(checked(answer).body);
    if (!parsed.success) throw unusable(`refused the login (${answer.status})`);
    const { client_token: token, lease_duration: seconds, renewable } = parsed.data.auth;
    return this.#keep(token, seconds, renewable);
  }

  #keep(token: string, seconds: number, renewable: boolean): Lease {
    const lease = { token, expiresAt: seconds > 0 ? this.#clock.now() + seconds * 1000 : null, renewable };
    this.#renewIn(lease, seconds * 1000 * RENEW_AT);
    return lease;
  }

  #renewIn(lease: Lease, delayMs: number): void {
    this.#cancelRenewal();
    if (this.#closed || !lease.renewable || lease.expiresAt === null) return;
    const waitMs = Math.min(Math.max(delayMs, MIN_WAIT_MS), MAX_WAIT_MS);
    this.#cancelRenewal = this.#alarm(waitMs, () => void this.#renew(lease));
  }

  async #renew(lease: Lease): Promise<void> {
    try {
      const renewed = this.#keepAnswered(await this.#send('POST', 'auth/token/renew-self', lease.token, {}));
      this.#lease = Promise.resolve(renewed);
    } catch {
      // The token is used until it expires. Then a role logs in again, and a configured token
      // answers 503 at its next use.
      const left = (lease.expiresAt ?? 0) - this.#clock.now();
      if (left > 0) this.#renewIn(lease, left / 3);
    }
  }

  async #send(method: string, path: string, token: string | undefined, body?: object): Promise<VaultAnswer> {
    const { address, namespace } = this.#settings;
    try {
      const response = await fetch(`${address}/v1/${path}`, {
        method,
        headers: {
          'X-Vault-Request': 'true',
          ...(token !== undefined && { 'X-Vault-Token': token }),
          ...(namespace !== undefined && { 'X-Vault-Namespace': namespace }),
          ...(body && { 'Content-Type': 'application/json' }),
        },
        ...(body && { body: JSON.stringify(body) }),
        // A redirect would receive the token.
        redirect: 'error',
        signal: AbortSignal.timeout(this.#timeoutMs),
      });
      return { status: response.status, body: parseJson(await limitBody(response, MAX_ANSWER_BYTES).text()) };
    } catch (error) {
      throw unusable(`cannot be reached (${reasonOf(error)})`);
    }
  }
}

/** Passes on the answers that the caller must interpret: success, 400 (check-and-set) and 404. */
function checked(answer: VaultAnswer): VaultAnswer {
  const { status } = answer;
  if ((status >= 200 && status < 300) || status === 400 || status === 404) return answer;
  throw unusable(
    status === 503 ? 'is sealed or down (503)' : status === 403 ? 'denies permission (403)' : `answered ${status}`,
  );
}

/** Returns the error of an unavailable store; `what` continues "Vault …". */
export function unusable(what: string): Error {
  return secretStoreUnavailable(new Error(`Vault ${what}`));
}

/** Null for invalid JSON: a parser's error quotes the text, and with it a secret. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (cause instanceof Error && 'code' in cause && typeof cause.code === 'string') return cause.code;
  return cause instanceof Error ? cause.name : 'unknown error';
}
