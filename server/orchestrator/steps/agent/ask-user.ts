import { z } from 'zod';
import { isObject } from '../../../platform/json.ts';
import { SchemaReader } from '../../../platform/json-schema/expand.ts';
import { subschemasOf } from '../../../platform/json-schema/references.ts';
import { JsonObjectSchema } from '../../../platform/zod-json.ts';
import type { JsonMap, JsonValue } from '../../core/index.ts';
import { mentionsCredential, namesCredential, requestsCredential } from '../credential-words.ts';
import { checkForm } from '../form.ts';
import type { PlannedTool } from './plan.ts';

/** The tool with which an agent asks people of the project a question. */
export const ASK_USER = 'ask_user';
/** The `instance_id` of a planned tool that people answer. */
export const PERSON = 'person';

const MAX_QUESTION = 4_000;
const Arguments = z.strictObject({
  question: z.string().min(1).max(MAX_QUESTION).meta({ description: 'In the language of the person' }),
  form: JsonObjectSchema.optional().meta({
    type: 'object',
    description:
      'JSON Schema (2020-12) of an object: the fields of the answer, with `enum` where there is a choice. Default: a text',
  }),
});
const DEFAULT_FORM: JsonMap = {
  type: 'object',
  properties: { answer: { type: 'string', title: 'Answer', minLength: 1, maxLength: 10_000 } },
  required: ['answer'],
};

/** Returns the tool with its description for models. */
export function askUserTool(): PlannedTool {
  const { $schema: _, ...schema } = z.toJSONSchema(Arguments, { io: 'input', unrepresentable: 'any' });
  return {
    name: ASK_USER,
    instance_id: PERSON,
    instance: 'Baton',
    tool: ASK_USER,
    description:
      'Asks the person, and waits for the answer. Only for what you cannot find out and should not guess. Passwords, keys and tokens cannot be asked for: people add connections themselves.',
    input_schema: schema as JsonMap,
    policy: 'ask',
    read_only: true,
    open_world: false,
  };
}

/** Returns the question of a call and the form of its answer, or the problem with them. */
export function questionOf(args: JsonMap): { question: string; form: JsonMap } | { problem: string } {
  const parsed = Arguments.safeParse(args);
  if (!parsed.success) return { problem: `The arguments do not fit the schema of ${ASK_USER}.` };
  const { question, form = DEFAULT_FORM } = parsed.data;
  const [problem] = checkForm(form as JsonMap, 'form');
  if (problem !== undefined) return { problem: `${problem.path}: ${problem.message}` };
  if (form.type !== 'object') return { problem: 'form: must be of the type object' };
  const secret = requestsCredential(question) ? 'question' : secretIn(form as JsonMap);
  if (secret !== null)
    return { problem: `form: "${secret}" asks for a credential. Ask which connection to use, or to add one.` };
  return { question, form: form as JsonMap };
}

/** Returns the name of the first field, at any depth, that asks for a credential; null for none. */
function secretIn(schema: JsonValue, name = 'form', reader = new SchemaReader(schema as JsonMap)): string | null {
  if (!isObject(schema)) return null;
  // A reference may lead to a schema that asks for a credential.
  if (asksForSecret(name, reader.expand(schema).schema as JsonMap)) return name;
  const required = Array.isArray(schema.required) ? schema.required : [];
  const unnamed = required.find(
    each => typeof each === 'string' && !fieldsOf(schema).has(each) && namesCredential(each),
  );
  if (typeof unnamed === 'string') return unnamed;
  for (const [field, inner] of fieldsOf(schema)) {
    const found = secretIn(inner, field, reader);
    if (found !== null) return found;
  }
  for (const { keyword, schema: inner } of subschemasOf(schema)) {
    const found = keyword === 'properties' ? null : secretIn(inner as JsonValue, name, reader);
    if (found !== null) return found;
  }
  return null;
}

const fieldsOf = ({ properties }: JsonMap): ReadonlyMap<string, JsonValue> =>
  new Map(isObject(properties) ? Object.entries(properties as JsonMap) : []);

function asksForSecret(name: string, schema: JsonMap): boolean {
  const { format, writeOnly, title, description, examples } = schema;
  if (format === 'password' || writeOnly === true) return true;
  if (isChoice(schema)) return false;
  const hints = Object.entries(schema).flatMap(([keyword, value]) => (keyword.startsWith('x-') ? value : []));
  const texts = [description, ...hints, ...(Array.isArray(examples) ? examples : [])];
  return (
    [name, title].some(text => typeof text === 'string' && namesCredential(text)) ||
    texts.some(text => typeof text === 'string' && mentionsCredential(text))
  );
}

/** Returns whether the answer is one of fixed values, so that no text can be typed. */
function isChoice({ type, enum: choices, const: only, oneOf, anyOf }: JsonMap): boolean {
  const alternatives = Array.isArray(oneOf) ? oneOf : Array.isArray(anyOf) ? anyOf : [];
  const isFixed = (schema: unknown) => isObject(schema) && (schema.const !== undefined || schema.enum !== undefined);
  if (type === 'boolean' || choices !== undefined || only !== undefined) return true;
  return alternatives.length > 0 && alternatives.every(isFixed);
}

/** Returns the answer of a person, without the fields of every task's result. */
export function answerTo(result: JsonValue): JsonMap {
  if (!isObject(result)) return {};
  const { approved: _approved, completed_at: _at, timed_out: _late, ...answer } = result;
  return answer as JsonMap;
}
