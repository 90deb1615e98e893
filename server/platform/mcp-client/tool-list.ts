import { isDeepStrictEqual } from 'node:util';
import { isObject, type Json, type JsonObject } from '../json.ts';
import { jsonText } from './message.ts';

/** The hints of a tool. For a missing hint, the protocol assumes the worst case. */
export type ToolAnnotations = {
  title?: string;
  readOnlyHint?: boolean;
  destructiveHint?: boolean;
  idempotentHint?: boolean;
  openWorldHint?: boolean;
};

/** A tool as a server lists it. */
export type McpTool = {
  name: string;
  title?: string;
  description?: string;
  inputSchema: JsonObject;
  outputSchema?: JsonObject;
  annotations?: ToolAnnotations;
};

/** The tools of all pages, and warnings about entries that could not be used. */
export type ToolList = { tools: McpTool[]; warnings: string[] };

/** Opaque to clients. The protocol wants text; some servers number their pages. */
export type Cursor = string | number;

const HINTS = ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'] as const;
/** Warnings are for people, who do not read more of them. */
const MAX_WARNINGS = 100;

/** Collects the tools of a list page by page. A tool that cannot be used is left out; the other tools stay. */
export class ToolListReader {
  readonly #tools = new Map<string, McpTool>();
  readonly #warnings: string[] = [];
  readonly #cursors = new Set<Cursor>();
  /** The entries of all pages, also those that were left out. */
  readonly #seen = new Set<string>();
  #entries = 0;
  #length = 0;

  get size(): number {
    return this.#tools.size;
  }

  /** The characters of all entries as JSON. */
  get length(): number {
    return this.#length;
  }

  get list(): ToolList {
    return { tools: [...this.#tools.values()], warnings: [...this.#warnings] };
  }

  warn(text: string): void {
    if (this.#warnings.length < MAX_WARNINGS) this.#warnings.push(text);
  }

  /**
   * Adds the tools of a page. Returns the cursor of the next page, undefined at the end; null if the page has no list of tools.
   */
  take(page: Json): Cursor | undefined | null {
    if (!isObject(page) || (page.tools !== null && !Array.isArray(page.tools))) return null;
    const entries = page.tools ?? [];
    const before = this.#seen.size;
    for (const entry of entries) this.#add(entry);
    const isNew = this.#seen.size > before || entries.length === 0;
    return this.#next(page.nextCursor, isNew);
  }

  /**
   * Returns the cursor of the next page. A list that returns to an earlier cursor, or repeats its entries, ends here: it would
   * never end by itself.
   */
  #next(cursor: Json | undefined, isNew: boolean): Cursor | undefined {
    if (cursor === undefined || cursor === null || cursor === '' || cursor === false) return undefined;
    if (typeof cursor !== 'string' && typeof cursor !== 'number') {
      this.warn('The list of tools was not read further: the cursor of the next page is not text.');
      return undefined;
    }
    if (this.#cursors.has(cursor) || !isNew) {
      this.warn('The list of tools was not read further: the server repeats itself from page to page.');
      return undefined;
    }
    this.#cursors.add(cursor);
    return cursor;
  }

  #add(entry: Json): void {
    this.#entries++;
    const text = jsonText(entry) ?? '';
    this.#seen.add(text);
    this.#length += text.length;
    const problem = text === '' ? 'it is nested too deeply' : this.#problemAdding(entry);
    if (problem === null) return;
    const name = isObject(entry) && typeof entry.name === 'string' ? entry.name : null;
    const what = name === null ? `Entry ${this.#entries} of the list of tools` : `The tool “${name}”`;
    this.warn(`${what} was left out: ${problem}.`);
  }

  /** Adds a tool. Returns why it cannot be used, or null. */
  #problemAdding(entry: Json): string | null {
    if (!isObject(entry)) return 'it is not an object';
    const { name } = entry;
    if (typeof name !== 'string') return 'it has no name';
    const schema = inputSchemaOf(entry.inputSchema);
    if ('problem' in schema) return schema.problem;
    const known = this.#tools.get(name);
    const tool = this.#toolOf(name, schema.schema, entry);
    // A server that pages by offset may list one twice.
    if (known !== undefined) return isDeepStrictEqual(known, tool) ? null : 'its name is given twice';
    if (schema.warning !== undefined) this.warn(`The tool “${name}” ${schema.warning}.`);
    this.#tools.set(name, tool);
    return null;
  }

  #toolOf(name: string, inputSchema: JsonObject, entry: JsonObject): McpTool {
    const { outputSchema } = entry;
    const title = this.#text(name, 'title', entry.title);
    const description = this.#text(name, 'description', entry.description);
    const output = isObject(outputSchema) ? outputSchema : undefined;
    if (output === undefined && !isAbsent(outputSchema)) this.#ignored(name, 'output schema', 'an object');
    const annotations = this.#annotationsOf(name, entry.annotations);
    return {
      name,
      ...(title === undefined ? {} : { title }),
      ...(description === undefined ? {} : { description }),
      inputSchema,
      ...(output === undefined ? {} : { outputSchema: output }),
      ...(annotations === undefined ? {} : { annotations }),
    };
  }

  #text(name: string, what: string, value: Json | undefined): string | undefined {
    if (typeof value === 'string') return value;
    if (!isAbsent(value)) this.#ignored(name, what, 'text');
    return undefined;
  }

  #annotationsOf(name: string, value: Json | undefined): ToolAnnotations | undefined {
    if (isAbsent(value) || isEmptyList(value)) return undefined;
    if (!isObject(value)) {
      this.#ignored(name, 'annotations', 'an object');
      return undefined;
    }
    const title = this.#text(name, 'title in annotations', value.title);
    const annotations: ToolAnnotations = title === undefined ? {} : { title };
    for (const hint of HINTS) {
      const given = value[hint];
      if (typeof given === 'boolean') annotations[hint] = given;
      else if (!isAbsent(given)) {
        this.#ignored(name, hint, 'true or false');
        // The cautious reading: a person is asked before a tool that may destroy is called.
        if (hint === 'destructiveHint') annotations.destructiveHint = true;
      }
    }
    return annotations;
  }

  #ignored(name: string, what: string, expected: string): void {
    this.warn(`The ${what} of the tool “${name}” was ignored: it is not ${expected}.`);
  }
}

const isAbsent = (value: Json | undefined): value is null | undefined => value === undefined || value === null;
/** PHP writes an empty object as an empty list. */
const isEmptyList = (value: Json | undefined): boolean => Array.isArray(value) && value.length === 0;

type InputSchema = { schema: JsonObject; warning?: string } | { problem: string };

/** Arguments are always an object, so a schema that says nothing accepts any. */
function inputSchemaOf(schema: Json | undefined): InputSchema {
  if (isAbsent(schema)) {
    return { schema: { type: 'object' }, warning: 'has no input schema: it is given any arguments' };
  }
  if (schema === true || isEmptyList(schema)) return { schema: { type: 'object' } };
  if (schema === false) return { problem: 'its input schema accepts no arguments' };
  if (!isObject(schema)) return { problem: 'its input schema is not a JSON Schema' };
  const { type, properties } = schema;
  const types = Array.isArray(type) ? type : [type ?? 'object'];
  if (!types.includes('object')) return { problem: 'its input schema does not describe an object' };
  return { schema: isEmptyList(properties) ? { ...schema, properties: {} } : schema };
}
