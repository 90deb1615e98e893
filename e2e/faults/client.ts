/**
 * A client that checks the service's promises: answers within a time limit, 503 with Retry-After, nothing unexpected.
 */
export type Answer =
  /** `status` 0: there was no answer, because the process or the connection ended. */
  { status: number; body: Record<string, unknown> };

/** The maximum time for an answer. */
const ANSWER_WITHIN_MS = 15_000;

export class Client {
  url: string;
  readonly pat: string;
  /** Connections may end without an answer, because the process is being killed or is draining. */
  mayDisconnect = false;
  /** The process is suspended and cannot answer. */
  mayHang = false;
  /** The broken promises, for the audit. */
  readonly violations: string[] = [];
  /** The number of answers by status. */
  readonly answered = new Map<number, number>();

  constructor(url: string, pat: string) {
    this.url = url;
    this.pat = pat;
  }

  get authorization(): string {
    return `Bearer ${this.pat}`;
  }

  async call(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    const began = performance.now();
    const mayDisconnect = this.mayDisconnect;
    try {
      const response = await fetch(`${this.url}${path}`, {
        method,
        headers: { Authorization: this.authorization, 'Content-Type': 'application/json', ...headers },
        body: body === undefined ? undefined : JSON.stringify(body),
        signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
      });
      const text = await response.text();
      this.#record(method, path, response, text);
      return { status: response.status, body: text === '' ? {} : (JSON.parse(text) as Record<string, unknown>) };
    } catch (error) {
      const ms = Math.round(performance.now() - began);
      if (error instanceof DOMException && error.name === 'TimeoutError') {
        if (!this.mayHang) this.violations.push(`${method} ${path} was not answered within ${ms} ms`);
      } else if (!mayDisconnect && !this.mayDisconnect)
        this.violations.push(`${method} ${path} was cut off after ${ms} ms: ${reasonOf(error)}`);
      return { status: 0, body: {} };
    }
  }

  #record(method: string, path: string, response: Response, text: string): void {
    const { status, headers } = response;
    this.answered.set(status, (this.answered.get(status) ?? 0) + 1);
    if (status < 500) return;
    if (status === 503 && headers.has('Retry-After')) return;
    this.violations.push(`${method} ${path} answered ${status} without Retry-After: ${text}`);
  }
}

const reasonOf = (error: unknown): string =>
  error instanceof Error
    ? `${error.message} ${error.cause instanceof Error ? error.cause.message : ''}`
    : String(error);
