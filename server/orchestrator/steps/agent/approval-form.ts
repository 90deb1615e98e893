import { isObject } from '../../../platform/json.ts';
import type { JsonMap } from '../../core/index.ts';
import { checkForm, validateForm } from '../form.ts';
import { unknownFields } from '../unknown-fields.ts';

const MAX_REASON = 2_000;
/** The base URI of the tool's schema, so that its references do not resolve to the surrounding form. */
const ADDRESS = 'schema:///arguments';

const about = (args: JsonMap): JsonMap => ({
  title: 'Arguments',
  description: 'Those of the agent, unless you change them',
  default: args,
});

/**
 * Returns the form of an approval. Its fields come from the schema of the tool. If that schema cannot be a form, or does not accept the
 * arguments of the agent, the arguments are an object with any fields.
 */
export function approvalForm(inputSchema: JsonMap, args: JsonMap): JsonMap {
  const drawn = formWith(drawnFrom(inputSchema, args));
  const defaults = { arguments: args };
  const isUsable =
    checkForm(drawn).length === 0 &&
    validateForm(drawn, defaults).length === 0 &&
    unknownFields(drawn, defaults).length === 0;
  return isUsable ? drawn : formWith({ type: 'object', ...about(args) });
}

function formWith(args: JsonMap): JsonMap {
  const reason = { type: 'string', title: 'Reason', maxLength: MAX_REASON };
  return { type: 'object', properties: { arguments: args, reason }, additionalProperties: false };
}

/** Returns the schema with a field for each argument of the model that the schema does not name. */
function drawnFrom(schema: JsonMap, args: JsonMap): JsonMap {
  const { $schema: _, properties, ...others } = schema;
  const drawn = { $id: ADDRESS, ...others, type: 'object', ...about(args) };
  if (!isObject(properties)) return drawn;
  const unnamed = Object.keys(args).filter(name => !Object.hasOwn(properties, name));
  return { ...drawn, properties: { ...properties, ...Object.fromEntries(unnamed.map(name => [name, {}])) } };
}
