import type { JsonMap } from '../../../orchestrator/core/index.ts';
import { createLenientValidator, describeFindings } from '../../../orchestrator/steps/form.ts';
import type { ErrorDetail } from '../../../platform/errors.ts';
import type { SchemaValidator } from '../../../platform/json-schema/validator.ts';

/**
 * Checks arguments against the input schema that a server gave for its tool. The schema is untrusted and may use
 * anything, so the check covers what can be checked in bounded time. Anything left out makes the check more lenient,
 * never stricter, and the server decides in the end. Patterns run on re2js, `$ref` stays within the schema, and every
 * visit of a schema node is paid from a budget, which ends recursion and combinations that grow exponentially. Formats
 * are annotations.
 */
const MAX_SCHEMA_LENGTH = 256 * 1024;
/** Units of SchemaValidator: about 0.1 s at worst. */
const MAX_WORK = 1_000_000;

const known = new WeakMap<JsonMap, SchemaValidator | null>();

/**
 * Returns the problems of arguments, with paths from `tool_args` on; empty if they are valid, or if the check is not
 * possible: the schema is too large, or checking these arguments would take too long.
 */
export function argumentProblems(schema: JsonMap, args: JsonMap): ErrorDetail[] {
  const findings = validatorOnce(schema)?.check(args, MAX_WORK);
  return findings === undefined ? [] : describeFindings(findings, 'tool_args');
}

/** Returns null for a schema that is too large. */
function validatorOnce(schema: JsonMap): SchemaValidator | null {
  let validator = known.get(schema);
  if (validator === undefined) {
    const isTooLarge = JSON.stringify(schema).length > MAX_SCHEMA_LENGTH;
    validator = isTooLarge ? null : createLenientValidator(schema);
    known.set(schema, validator);
  }
  return validator;
}
