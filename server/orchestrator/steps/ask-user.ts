import { z } from 'zod';
import { isObject } from '../../platform/json.ts';
import { JsonObjectSchema } from '../../platform/json-object-schema.ts';
import { SchemaReader } from '../../platform/json-schema/expand.ts';
import type { JsonMap, JsonValue } from '../core/index.ts';
import type { PlannedTool } from './agent-plan.ts';
import { checkForm } from './form.ts';

/** The tool by which an agent asks the people of the project something. */
const ASK_USER = 'ask_user';
/** Stands in a planned tool in place of the id of an MCP instance: people carry it out. */
export const PERSON = 'person';

const MAX_QUESTION = 4_000;
/** Names of fields under which people would type what belongs to a connection. */
const SECRET_NAME =
  /pass(word|phrase|wd)|secret|api[_-]?key|access[_-]?(key|token)|private[_-]?key|credential|^token$/i;

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

/** The description of the tool for models. */
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

/** Returns the question of a call and the form of its answer; or what is wrong with them. */
export function questionOf(args: JsonMap): { question: string; form: JsonMap } | { problem: string } {
  const parsed = Arguments.safeParse(args);
  if (!parsed.success) return { problem: `The arguments do not fit the schema of ${ASK_USER}.` };
  const { question, form = DEFAULT_FORM } = parsed.data;
  const [problem] = checkForm(form as JsonMap, 'form');
  if (problem !== undefined) return { problem: `${problem.path}: ${problem.message}` };
  if (form.type !== 'object') return { problem: 'form: must be of the type object' };
  const secret = secretIn(form as JsonMap);
  if (secret !== null)
    return { problem: `form: "${secret}" asks for a credential. Ask which connection to use, or to add one.` };
  return { question, form: form as JsonMap };
}

/** The first field, at any depth, that would be typed in secret, or whose name says so and that is no choice. */
function secretIn(schema: JsonValue, reader = new SchemaReader(schema as JsonMap)): string | null {
  if (!isObject(schema)) return null;
  for (const [name, field] of Object.entries(isObject(schema.properties) ? schema.properties : {})) {
    // A reference may hide what it asks for.
    const { enum: choices, format, writeOnly } = reader.expand(field).schema;
    if (format === 'password' || writeOnly === true || (choices === undefined && SECRET_NAME.test(name))) return name;
  }
  for (const inner of Object.values(schema)) {
    const items = Array.isArray(inner) ? inner : [inner];
    const found = items.map(item => secretIn(item as JsonValue, reader)).find(each => each !== null);
    if (found != null) return found;
  }
  return null;
}

/** Returns the answer of a person, without the fields of every task's result. */
export function answerTo(result: JsonValue): JsonMap {
  if (!isObject(result)) return {};
  const { approved: _approved, completed_at: _at, timed_out: _late, ...answer } = result;
  return answer as JsonMap;
}
