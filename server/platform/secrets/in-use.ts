import { AsyncLocalStorage } from 'node:async_hooks';
import { createRedactor, type Redactor } from './redaction.ts';

/** The secrets that a call has read or was given so far. */
class SecretsInUse {
  readonly #outer: SecretsInUse | undefined;
  readonly #values: Set<string>;
  #redactor: Redactor | null = null;

  /** Notes in `outer` what it notes itself: an error may leave both. */
  constructor(outer: SecretsInUse | undefined) {
    this.#outer = outer;
    this.#values = new Set(outer?.values);
  }

  get values(): ReadonlySet<string> {
    return this.#values;
  }

  add(values: Iterable<string>): void {
    for (const value of values) this.#values.add(value);
    this.#redactor = null;
    this.#outer?.add(values);
  }

  /** Null while there is nothing to redact. */
  get redactor(): Redactor | null {
    if (this.#values.size > 0) this.#redactor ??= createRedactor(this.#values);
    return this.#redactor;
  }
}

const current = new AsyncLocalStorage<SecretsInUse>();

/** Causes and lists of errors are followed so far; a library's chain has two or three. */
const DEEPEST_CAUSE = 10;

/**
 * Runs `work` so that the secrets which it notes are cut out of every log line that is written meanwhile, and out of the error that it
 * rejects with, whoever made the message: libraries quote headers. A registry for the whole process was rejected: each line would cost a
 * search for the secrets of every workspace, and a workspace could blot out the lines of the others with secrets such as `error`.
 */
export async function inSecretScope<T>(work: () => Promise<T>): Promise<T> {
  const scope = new SecretsInUse(current.getStore());
  try {
    return await current.run(scope, work);
  } catch (error) {
    const { redactor } = scope;
    if (redactor !== null) redactError(error, redactor, 0);
    throw error;
  }
}

/** Says that these are secrets, to the scope that this call runs in. */
export function noteSecrets(values: Iterable<string>): void {
  current.getStore()?.add([...values]);
}

/** What cuts the secrets out that are in use here; null where there are none. */
export function redactorInUse(): Redactor | null {
  return current.getStore()?.redactor ?? null;
}

/** Cuts secrets out of an error where it stands: its class, its identity and everything else stay. */
function redactError(error: unknown, redactor: Redactor, depth: number): void {
  if (!(error instanceof Error) || depth > DEEPEST_CAUSE) return;
  for (const name of ['message', 'stack', ...Object.keys(error)]) {
    const value: unknown = Reflect.get(error, name);
    if (typeof value !== 'string') continue;
    const text = redactor.text(value);
    // `message` may be an accessor of the class, as of DOMException, where assigning does nothing.
    if (text !== value) Reflect.defineProperty(error, name, { value: text, configurable: true, writable: true });
  }
  redactError(error.cause, redactor, depth + 1);
  const list: unknown = Reflect.get(error, 'errors');
  if (Array.isArray(list)) for (const each of list) redactError(each, redactor, depth + 1);
}
