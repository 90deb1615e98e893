import { markNumbers, unmarkNumbers } from '../json-text.ts';
import type { ModelProvider } from './providers.ts';
import type { StreamPart } from './read-stream.ts';

/**
 * The providers whose APIs send the arguments of a call as an object, which their libraries parse: with integers beyond
 * 2^53 rounded. The others send a text, which Baton parses (docs/adr/0024-integers-of-64-bits.md).
 */
const SENDS_OBJECTS: ReadonlySet<ModelProvider> = new Set(['google', 'anthropic']);

/** Whether a provider takes and sends the arguments of a call as an object, not as a text. */
export const takesObjects = (provider: ModelProvider): boolean => SENDS_OBJECTS.has(provider);

/** A fetch whose streams of events have their large integers marked, for `exactPart` to restore. */
export function exactFetch(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    if (!response.ok || response.body === null) return response;
    const { status, statusText, headers } = response;
    const marked = response.body
      .pipeThrough(new TextDecoderStream())
      .pipeThrough(new TransformStream(new MarkedLines()))
      .pipeThrough(new TextEncoderStream());
    return new Response(marked, { status, statusText, headers });
  };
}

/** Marks the numbers of whole lines: no JSON value of an event goes beyond one (HTML, 9.2.6). */
class MarkedLines implements Transformer<string, string> {
  #begun = '';

  transform(chunk: string, controller: TransformStreamDefaultController<string>): void {
    const end = chunk.lastIndexOf('\n') + 1;
    if (end > 0) {
      const lines = `${this.#begun}${chunk.slice(0, end)}`.split('\n');
      controller.enqueue(lines.map(markNumbers).join('\n'));
      this.#begun = '';
    }
    this.#begun += chunk.slice(end);
  }

  flush(controller: TransformStreamDefaultController<string>): void {
    if (this.#begun !== '') controller.enqueue(markNumbers(this.#begun));
  }
}

/** Returns a part of an answer with the digits of its arguments as the provider sent them. */
export function exactPart(part: StreamPart): StreamPart {
  if (part.type === 'tool-call') return { ...part, input: unmarkNumbers(part.input) };
  return part.type === 'tool-input-delta' ? { ...part, delta: unmarkNumbers(part.delta) } : part;
}
