import { AsyncLocalStorage } from 'node:async_hooks';
import { createRedactor, type Redactor } from './redaction.ts';

/** The secrets that a call has read or received so far. */
class SecretsInUse {
  readonly #outer: SecretsInUse | undefined;
  readonly #values: Set<string>;
  #redactor: Redactor | null = null;
  /**
   * Whether errors that leave the scope are searched for the secrets. Secrets in a request belong to its sender, so errors are
   * not searched for them.
   */
  searchesErrors = false;

  /** Secrets are also registered in `outer`, because an error may leave both scopes. */
  constructor(outer: SecretsInUse | undefined) {
    this.#outer = outer;
    this.#values = new Set(outer?.values);
  }

  get values(): ReadonlySet<string> {
    return this.#values;
  }

  add(values: Iterable<string>): void {
    this.show(values);
    this.searchesErrors = true;
    this.#outer?.add(values);
  }

  /** Adds secrets that are redacted from log lines only: nothing is computed before a line is written. */
  show(values: Iterable<string>): void {
    for (const value of values) this.#values.add(value);
    this.#redactor = null;
  }

  /** Null if there is nothing to redact. */
  get redactor(): Redactor | null {
    if (this.#values.size > 0) this.#redactor ??= createRedactor(this.#values);
    return this.#redactor;
  }
}

const current = new AsyncLocalStorage<SecretsInUse>();

/** How far causes and lists of errors are followed; a library's chain has two or three. */
const DEEPEST_CAUSE = 10;

/**
 * Runs `work` so that the secrets which it registers are removed from every log line that is written meanwhile, and
 * from the error with which it rejects, even if a library quoted them in the message. A registry for the whole process
 * was rejected: each line would cost a search for the secrets of every workspace, and a workspace could erase words
 * such as `error` from the lines of the others.
 */
export async function inSecretScope<T>(work: () => Promise<T>): Promise<T> {
  const scope = new SecretsInUse(current.getStore());
  try {
    return await current.run(scope, work);
  } catch (error) {
    const redactor = scope.searchesErrors ? scope.redactor : null;
    if (redactor !== null) redactError(error, redactor, 0);
    throw error;
  }
}

/**
 * Runs `work`, a request's, so that the secrets in the request are redacted from every log line
 * that is written meanwhile.
 */
export function inRequestScope<T>(work: () => T): T {
  return current.run(new SecretsInUse(current.getStore()), work);
}

/**
 * Registers secrets that the current request contains. Unlike with `noteSecrets`, errors are not searched for them, so
 * a request costs nothing more until a line is logged.
 */
export function noteShownSecrets(values: Iterable<string>): void {
  current.getStore()?.show(values);
}

/** Registers secrets in the scope of the current call. */
export function noteSecrets(values: Iterable<string>): void {
  current.getStore()?.add([...values]);
}

const ofProcess = new Set<string>();
let processRedactor: Redactor | null = null;

/**
 * Registers the operator's own secrets, such as those of the configuration: they are redacted from
 * every log line from now on.
 */
export function registerProcessSecrets(values: Iterable<string>): void {
  for (const value of values) ofProcess.add(value);
  processRedactor = ofProcess.size > 0 ? createRedactor(ofProcess) : null;
}

/** Returns the redactors for a line that is logged now: for the secrets of the process, and for the secrets in use. */
export function redactorsInUse(): Redactor[] {
  return [processRedactor, current.getStore()?.redactor ?? null].filter(redactor => redactor !== null);
}

/** Redacts secrets from an error in place: its class, its identity and everything else stay. */
function redactError(error: unknown, redactor: Redactor, depth: number): void {
  if (!(error instanceof Error) || depth > DEEPEST_CAUSE) return;
  for (const name of ['message', 'stack', ...Object.keys(error)]) {
    const value: unknown = Reflect.get(error, name);
    if (typeof value !== 'string') continue;
    const text = redactor.text(value);
    // `message` may be an accessor of the class, as in DOMException, where an assignment has no effect.
    if (text !== value) Reflect.defineProperty(error, name, { value: text, configurable: true, writable: true });
  }
  redactError(error.cause, redactor, depth + 1);
  const list: unknown = Reflect.get(error, 'errors');
  if (Array.isArray(list)) for (const each of list) redactError(each, redactor, depth + 1);
}
