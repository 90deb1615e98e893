import { isObject, type JsonObject } from '../json.ts';
import type { ContentPart, ToolResultPart, TurnMessage } from './messages.ts';
import type { ModelProvider } from './providers.ts';
import type { CallOptions } from './read-stream.ts';
import { instructionsWith } from './structured-output.ts';

type Prompt = CallOptions['prompt'];
type Assistant = Extract<Prompt[number], { role: 'assistant' }>['content'][number];
type Result = Extract<Extract<Prompt[number], { role: 'tool' }>['content'][number], { type: 'tool-result' }>;
type ProviderOptions = Prompt[number]['providerOptions'];

/** Returns a conversation as the providers' libraries take it. The instructions describe `schema`. */
export function promptOf(
  messages: readonly TurnMessage[],
  { provider, schema, cached }: { provider: ModelProvider; schema: JsonObject | undefined; cached: boolean },
): Prompt {
  const [first] = messages;
  const instructions = first?.role === 'system' ? first.content : undefined;
  const rest = first?.role === 'system' ? messages.slice(1) : messages;
  const system = instructionsWith(instructions, schema);
  const prompt: Prompt = [
    ...(system === undefined ? [] : [{ role: 'system' as const, content: system }]),
    ...rest.map(message => messageOf(message, provider)),
  ];
  return provider === 'anthropic' && cached ? withBreakpoints(prompt) : prompt;
}

/**
 * Sets Anthropic's cache breakpoints for later turns: after the instructions (with the tools before them), and after the whole
 * conversation. The other providers do so by themselves.
 */
function withBreakpoints(prompt: Prompt): Prompt {
  const marked = { anthropic: { cacheControl: { type: 'ephemeral' } } };
  const lastSystem = prompt.findLastIndex(({ role }) => role === 'system');
  return prompt.map((message, at) =>
    at === lastSystem || at === prompt.length - 1 ? { ...message, providerOptions: marked } : message,
  );
}

function messageOf(message: TurnMessage, provider: ModelProvider): Prompt[number] {
  switch (message.role) {
    case 'system':
      return message;
    case 'user':
      return {
        role: 'user',
        content: message.content.map(part => ({ type: 'text', text: part.text, ...optionsOf(part) })),
      };
    case 'assistant':
      return { role: 'assistant', content: message.content.map(part => assistantPart(part, provider)) };
    case 'tool':
      return { role: 'tool', content: message.content.map(resultPart) };
  }
}

/** Data that the provider attached to a part is sent back with the part, unchanged. */
function optionsOf({ provider_metadata }: { provider_metadata?: JsonObject | undefined }): {
  providerOptions?: ProviderOptions;
} {
  return provider_metadata === undefined ? {} : { providerOptions: provider_metadata as ProviderOptions };
}

function assistantPart(part: ContentPart, provider: ModelProvider): Assistant {
  switch (part.type) {
    case 'text':
    case 'reasoning':
      return { type: part.type, text: part.text, ...optionsOf(part) };
    case 'tool_call': {
      // Providers refuse arguments that are not JSON, but the model should see what it wrote.
      const input = part.malformed ? { malformed_arguments: part.arguments } : (part.raw ?? part.arguments);
      const options = provider === 'openai_compatible' ? signatureOf(part) : optionsOf(part);
      return { type: 'tool-call', toolCallId: part.id, toolName: part.name, input, ...options };
    }
  }
}

/**
 * Returns Google's signature of a call under the name from which the library of OpenAI-compatible servers restores it. Under its
 * own name the library would also write the metadata into the call, and Google refuses unknown fields.
 */
function signatureOf({ provider_metadata }: ContentPart): { providerOptions?: ProviderOptions } {
  const own = provider_metadata?.openaiCompatible;
  return isObject(own) ? { providerOptions: { google: own } as ProviderOptions } : {};
}

function resultPart({ id, name, output }: ToolResultPart): Result {
  return { type: 'tool-result', toolCallId: id, toolName: name, output: outputOf(output) };
}

function outputOf(output: ToolResultPart['output']): Result['output'] {
  switch (output.type) {
    case 'text':
      return output;
    case 'json':
      // The library's type has no bigint; its serializer is JSON.stringify, which writes the digits.
      return output as Result['output'];
    case 'error':
      return { type: 'error-text', value: output.value };
    case 'denied':
      return { type: 'execution-denied', ...(output.reason === undefined ? {} : { reason: output.reason }) };
  }
}
