import type { JsonMap, JsonValue } from '../../../orchestrator/core/index.ts';
import { isObject } from '../../../platform/json.ts';
import type { PresetRules, Received } from '../presets/preset.ts';
import { cloudEventOf } from './cloud-event.ts';
import { decodeText } from './decode.ts';
import { expandBody } from './expand.ts';
import { readForm } from './form.ts';
import { readJson, startsAsJson } from './json.ts';
import { charsetOf, type Format, formatOf } from './media-type.ts';

/**
 * Returns the body of an authentic delivery as the payload of a run (docs/specification/webhooks.md#bodies): a value
 * that is not an object is wrapped as `{"body": …}`, and an empty body becomes `{}`. `format` is the preset's own.
 * Throws AppError 400, 413, 415.
 */
export async function readPayload(received: Received, format: PresetRules['format']): Promise<JsonMap> {
  const { body: sent, header, attributes } = received;
  const expanded = await expandBody(sent, header('content-encoding'));
  // The signed bytes determine the format. An unsigned header must not change the payload, because the delivery would
  // then not be recognized as a repetition.
  if (format !== undefined) {
    const text = decodeText(expanded, 'utf-8');
    return toPayload(text.trim() === '' ? undefined : readAs(format(sent, expanded), text));
  }
  const contentType = header('content-type');
  const data = readContent(expanded, contentType);
  return cloudEventOf(attributes, contentType, data) ?? toPayload(data);
}

/** Returns the value of a body; undefined if it is empty. */
function readContent(bytes: Uint8Array, contentType: string | undefined): JsonValue | undefined {
  if (bytes.byteLength === 0) return undefined;
  const format = formatOf(contentType);
  const text = decodeText(bytes, charsetOf(contentType));
  return text.trim() === '' ? undefined : readAs(format, text);
}

function readAs(format: Format, text: string): JsonValue {
  switch (format) {
    case 'json':
      return readJson(text);
    case 'form':
      return readForm(text);
    case 'text':
      return text;
    case 'guess':
      return startsAsJson(text) ? readJson(text) : scalarOr(text);
  }
}

/** Returns the number, boolean or null that the whole text represents, otherwise the text. */
function scalarOr(text: string): JsonValue {
  try {
    return readJson(text);
  } catch {
    return text;
  }
}

/** Returns the payload for a value; undefined if the body is empty. */
export const toPayload = (value: JsonValue | undefined): JsonMap =>
  value === undefined ? {} : isObject(value) ? value : { body: value };
