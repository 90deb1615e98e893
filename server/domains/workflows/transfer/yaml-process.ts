import { flushCompileCache } from 'node:module';
// Required because YAML integers are bigints, and JSON.stringify cannot write them without this module.
import '../../../platform/json-text.ts';
import { readYaml } from './yaml.ts';
import { MAX_DOCUMENT_JSON_CHARACTERS, type YamlAnswer } from './yaml-readers.ts';

/**
 * Sends messages of this process, which reads one YAML text and ends. Its time limit starts with the message `ready`.
 */
const send = (answer: YamlAnswer) => process.send?.(answer);

/** Returns the value as JSON; undefined for a document with a value that JSON does not have, such as `.nan`. */
function jsonOf(value: unknown): string | undefined {
  let isJson = true;
  const json = JSON.stringify(value, (_, item: unknown) => {
    if (typeof item === 'number' && !Number.isFinite(item)) isJson = false;
    return item;
  });
  return isJson ? json : undefined;
}

process.once('message', (text: unknown) => {
  const read = readYaml(String(text));
  if (!read.ok) {
    send({ kind: 'refused', message: read.message });
    return;
  }
  const json = jsonOf(read.value);
  if (json === undefined) send({ kind: 'refused', message: 'contains a value that JSON does not have' });
  else if (json.length > MAX_DOCUMENT_JSON_CHARACTERS) send({ kind: 'refused', message: 'is too large' });
  else send({ kind: 'read', json });
});
process.once('disconnect', () => process.exit());
// The parent kills this process after its answer.
flushCompileCache();
send({ kind: 'ready' });
