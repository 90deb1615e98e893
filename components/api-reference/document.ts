import { z } from 'zod';
import { isObject } from '@/server/platform/json.ts';

/** The parts of /v1/openapi.json that the reference shows. */
const AnySchema = z.record(z.string(), z.unknown());
const Content = z.record(z.string(), z.looseObject({ schema: AnySchema.optional() }));
const Parameter = z.looseObject({
  name: z.string(),
  in: z.string(),
  required: z.boolean().optional(),
  description: z.string().optional(),
  schema: AnySchema.optional(),
});
const Reference = z.looseObject({ $ref: z.string() });
const Response = z.looseObject({ description: z.string().optional(), content: Content.optional() });
const OperationSchema = z.looseObject({
  operationId: z.string(),
  tags: z.array(z.string()).default([]),
  summary: z.string().default(''),
  description: z.string().default(''),
  parameters: z.array(z.union([Parameter, Reference])).default([]),
  requestBody: z.looseObject({ content: Content }).optional(),
  responses: z.record(z.string(), z.union([Reference, Response])).default({}),
});
export const ApiDocument = z.looseObject({
  info: z.looseObject({ title: z.string(), version: z.string(), description: z.string().optional() }),
  servers: z.array(z.looseObject({ url: z.string() })).default([]),
  paths: z.record(z.string(), z.record(z.string(), OperationSchema)),
  components: z
    .looseObject({
      schemas: z.record(z.string(), AnySchema).default({}),
      parameters: z.record(z.string(), Parameter).default({}),
      responses: z.record(z.string(), Response).default({}),
    })
    .default({ schemas: {}, parameters: {}, responses: {} }),
});
export type ApiDocument = z.output<typeof ApiDocument>;
export type JsonSchema = z.output<typeof AnySchema>;
export type ApiParameter = z.output<typeof Parameter>;

export type ApiOperation = {
  id: string;
  method: string;
  path: string;
  tag: string;
  summary: string;
  description: string;
  parameters: ApiParameter[];
  body: JsonSchema | undefined;
  responses: { status: string; description: string; schema: JsonSchema | undefined }[];
};

const lastPart = (ref: string) => ref.slice(ref.lastIndexOf('/') + 1);

/** Returns every operation. References to shared parameters and responses are resolved; references to schemas are kept. */
export function operationsOf(document: ApiDocument): ApiOperation[] {
  const { parameters, responses } = document.components;
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      id: operation.operationId,
      method: method.toUpperCase(),
      path,
      tag: operation.tags[0] ?? 'Other',
      summary: operation.summary,
      description: operation.description,
      parameters: operation.parameters.flatMap(parameter => {
        const found = isReference(parameter) ? parameters[lastPart(parameter.$ref)] : parameter;
        return found ? [found] : [];
      }),
      body: operation.requestBody?.content['application/json']?.schema,
      responses: Object.entries(operation.responses).map(([status, response]) => {
        const found = isReference(response) ? responses[lastPart(response.$ref)] : response;
        return { status, description: found?.description ?? '', schema: found?.content?.['application/json']?.schema };
      }),
    })),
  );
}

function isReference(value: object): value is z.output<typeof Reference> {
  return '$ref' in value;
}

const isSchema = (value: unknown): value is JsonSchema => isObject(value);

/** Resolves a reference to a schema. Returns the schema and its name. */
function resolveSchema(schema: JsonSchema, document: ApiDocument): { schema: JsonSchema; name: string | null } {
  if (typeof schema.$ref !== 'string') return { schema, name: null };
  const name = lastPart(schema.$ref);
  return { schema: document.components.schemas[name] ?? {}, name };
}

/** Returns a schema's type in a few words: "string (uuid)", "object[]", "\"a\" | \"b\"", "integer or null". */
export function typeOf(given: JsonSchema, document: ApiDocument): string {
  const { schema } = resolveSchema(given, document);
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (Array.isArray(schema.enum)) return schema.enum.map(value => JSON.stringify(value)).join(' | ');
  const variants = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(variants)) {
    const words = variants.filter(isSchema).map(variant => typeOf(variant, document));
    return [...new Set(words)].slice(0, 6).join(' or ') || 'any';
  }
  if (schema.type === 'array') return isSchema(schema.items) ? `${wrap(typeOf(schema.items, document))}[]` : 'array';
  const type = Array.isArray(schema.type) ? schema.type.join(' or ') : schema.type;
  if (typeof type !== 'string') return 'any';
  return typeof schema.format === 'string' ? `${type} (${schema.format})` : type;
}

const wrap = (type: string) => (type.includes(' ') ? `(${type})` : type);

export type ApiField = { name: string; type: string; required: boolean; description: string; inner: JsonSchema | null };

/** Returns the fields of an object schema, or of the items of a list. A field that has fields itself has `inner`. */
export function fieldsOf(given: JsonSchema, document: ApiDocument): ApiField[] {
  const schema = objectIn(given, document);
  if (!schema || !isSchema(schema.properties)) return [];
  const required = Array.isArray(schema.required) ? schema.required : [];
  return Object.entries(schema.properties).map(([name, property]) => {
    const field = isSchema(property) ? property : {};
    return {
      name,
      type: typeOf(field, document),
      required: required.includes(name),
      description: descriptionOf(field, document),
      inner: objectIn(field, document) ? field : null,
    };
  });
}

function descriptionOf(field: JsonSchema, document: ApiDocument): string {
  const { schema } = resolveSchema(field, document);
  const text = field.description ?? schema.description;
  const notes = [
    typeof text === 'string' ? text : '',
    schema.default === undefined ? '' : `Default ${JSON.stringify(schema.default)}.`,
    typeof schema.minLength === 'number' && schema.minLength > 1 ? `At least ${schema.minLength} characters.` : '',
    typeof schema.maxLength === 'number' ? `At most ${schema.maxLength} characters.` : '',
  ];
  return notes.filter(Boolean).join(' ');
}

/**
 * Returns the schema of the object that a schema describes directly, as the items of a list, or as one alternative;
 * null if there is no object.
 */
function objectIn(given: JsonSchema, document: ApiDocument): JsonSchema | null {
  const { schema } = resolveSchema(given, document);
  if (isSchema(schema.properties)) return schema;
  if (isSchema(schema.items)) return objectIn(schema.items, document);
  const variants = schema.anyOf ?? schema.oneOf;
  for (const variant of Array.isArray(variants) ? variants.filter(isSchema) : []) {
    const found = objectIn(variant, document);
    if (found) return found;
  }
  return null;
}
