import { isObject, type Json, type JsonObject } from '@/server/platform/json.ts';
import { SchemaReader } from '@/server/platform/json-schema/expand.ts';
import { parseJson } from '@/server/platform/json-text.ts';

/** One argument of a tool, as its form shows it. */
export type ToolArgument = {
  name: string;
  label: string;
  hint: string | undefined;
  required: boolean;
  kind: 'text' | 'long' | 'choice' | 'flag' | 'json';
  choices: string[];
};

/** Returns the arguments that a tool's JSON Schema declares, required ones first. */
export function toolArguments(schema: JsonObject): ToolArgument[] {
  const reader = new SchemaReader(schema);
  const { schema: root } = reader.expand(schema);
  const properties = isObject(root.properties) ? root.properties : {};
  const required = Array.isArray(root.required) ? root.required : [];
  return Object.entries(properties)
    .map(([name, property]): ToolArgument => {
      const own = reader.expand(property).schema;
      const { title, description } = own;
      return {
        name,
        label: typeof title === 'string' && title !== '' ? title : name,
        hint: typeof description === 'string' ? description : undefined,
        required: required.includes(name),
        ...controlOf(own),
      };
    })
    .sort((a, b) => Number(b.required) - Number(a.required));
}

function controlOf({ enum: values, type, maxLength }: JsonObject): Pick<ToolArgument, 'kind' | 'choices'> {
  if (Array.isArray(values) && values.length > 0 && values.every(value => typeof value === 'string'))
    return { kind: 'choice', choices: values };
  const choices: string[] = [];
  if (type === 'string') return { kind: typeof maxLength === 'number' && maxLength > 200 ? 'long' : 'text', choices };
  return { kind: type === 'boolean' ? 'flag' : 'json', choices };
}

/** Returns the text of an argument's value. */
export function argumentText(value: Json | undefined): string {
  if (value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Parses the text of an argument. Text that is not JSON stays a text, which may contain a template; empty text removes the argument. */
export function readArgument({ kind }: Pick<ToolArgument, 'kind'>, text: string): Json | undefined {
  if (text === '') return undefined;
  if (kind !== 'json') return text;
  try {
    return parseJson(text);
  } catch {
    return text;
  }
}

/** Returns the arguments with one argument changed; undefined if none is left. */
export function withArgument(values: JsonObject, name: string, value: Json | undefined): JsonObject | undefined {
  const others = Object.entries(values).filter(([key]) => key !== name);
  const at = Object.keys(values).indexOf(name);
  if (value !== undefined) others.splice(at < 0 ? others.length : at, 0, [name, value]);
  return others.length === 0 ? undefined : Object.fromEntries(others);
}
