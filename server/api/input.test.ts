import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { AppError, type ErrorDetail, invalid, notFound } from '../platform/errors.ts';
import { fieldsOf, type Name, registry } from '../testing/world.ts';
import { parseObject, readJson } from './input.ts';
import type { RegisteredOperation } from './registry.ts';

const many = <T>(count: number, make: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => make(n));
const unknownFields = (count: number): object => Object.fromEntries(many(count, n => [`k${n}`, n]));

/** Returns the result of the operation's schema for an input, with each of zod's issues as a detail. */
function expected({ operation, pathParameters }: RegisteredOperation, input: object): unknown {
  const parsed = operation.input.safeParse(input);
  if (parsed.success) return parsed.data;
  const { issues } = parsed.error;
  const isPath = ({ code, path }: (typeof issues)[number]) =>
    pathParameters.includes(String(path[0])) && code !== 'unrecognized_keys';
  if (issues.some(isPath) && pathParameters.every(name => name in input)) return notFound('Resource');
  const details = issues.flatMap((issue): ErrorDetail[] => {
    const path = issue.path
      .map((part, index) => (typeof part === 'number' ? `[${part}]` : `${index === 0 ? '' : '.'}${String(part)}`))
      .join('');
    if (issue.code !== 'unrecognized_keys') return [{ path, message: issue.message }];
    return issue.keys.map(key => ({ path: path ? `${path}.${key}` : key, message: 'is not a known field' }));
  });
  return invalid('The request is not valid.', details, 'validation_error');
}

function parsed(entry: RegisteredOperation, input: object): unknown {
  try {
    return parseObject(entry, input);
  } catch (error) {
    return error;
  }
}

/** Returns an error as its response shows it. */
const problemOf = (result: unknown) =>
  result instanceof AppError ? { status: result.status, code: result.code, details: result.details } : result;

/** Returns the inputs as text, because parsing may change an object, and only JSON.parse creates a key `__proto__`. */
function inputsOf(entry: RegisteredOperation): string[] {
  const valid = { ...fieldsOf(entry.operation.name as Name) };
  const wrong = Object.fromEntries([...entry.fields].map(name => [name, { unexpected: 1, [name]: [{}] }]));
  return [
    valid,
    wrong,
    unknownFields(1),
    { ...unknownFields(1), ...valid },
    { ...valid, 7: 1, zz: [], 1: 2, toString: 3, constructor: {} },
    { ...wrong, ...unknownFields(3) },
    { ...valid, ...unknownFields(200) },
    { ...wrong, ...unknownFields(201) },
    ...[...entry.fields].map(name => ({ ...valid, ...unknownFields(2), [name]: null })),
  ]
    .map(input => JSON.stringify(input))
    .concat('{"__proto__":{"a":1},"b":2}');
}

describe('unknown fields, which the schema does not see, are refused as it would have refused them', () => {
  test.each(registry.operations.map(entry => [entry.operation.name, entry] as const))('%s', (_, entry) => {
    for (const text of inputsOf(entry)) {
      const result = problemOf(parsed(entry, JSON.parse(text)));
      expect(result, text.slice(0, 500)).toEqual(problemOf(expected(entry, JSON.parse(text))));
    }
  });
});

describe('a list or an object in which hundreds of thousands of things are wrong', () => {
  const create = registry.byName.get('workflows_create');
  const refused = (fields: object) =>
    create === undefined ? undefined : problemOf(parsed(create, { name: 'Wrong', ...fields }));

  test.each([1, 99, 100, 101, 150_000])('%i steps without id and type', count => {
    const details = many(Math.min(count, 100), n =>
      ['id', 'type'].map(field => ({
        path: `graph.steps[${n}].${field}`,
        message: 'Invalid input: expected string, received undefined',
      })),
    ).flat();
    const more = count - 100;
    if (more > 0)
      details.push({
        path: '',
        message: `${2 * more} more problems are not shown`,
        ...{ code: 'more_problems' },
      });
    expect(refused({ graph: { steps: many(count, () => ({})) } })).toEqual({
      status: 422,
      code: 'validation_error',
      details,
    });
  });

  test.each([1, 200, 201, 70_000])('%i payloads of steps that are no objects', count => {
    const details: ErrorDetail[] = many(Math.min(count, 200), n => ({
      path: `run_setup.trigger_steps.k${n}`,
      message: 'must be a JSON object',
    }));
    const more = count - 200;
    if (more > 0)
      details.push({
        path: '',
        message: `${more} more ${more === 1 ? 'problem is' : 'problems are'} not shown`,
        code: 'more_problems',
      });
    expect(refused({ run_setup: { trigger_steps: unknownFields(count) } })).toEqual({
      status: 422,
      code: 'validation_error',
      details,
    });
  });
});

describe('a body', () => {
  /** Returns the result as JSON, in which `__proto__` is an ordinary key. */
  const outcomeOf = (read: () => unknown): unknown => {
    try {
      return JSON.stringify(read());
    } catch (error) {
      return error instanceof AppError ? error.code : 'malformed_body';
    }
  };
  const expectAsParsed = (text: string) =>
    expect(
      outcomeOf(() => readJson(new TextEncoder().encode(text))),
      text,
    ).toBe(outcomeOf(() => JSON.parse(text)));

  test('is accepted exactly if JSON.parse accepts it, also if it is cut off or followed by other text', () => {
    const ends = fc.constantFrom('', ' ', ' \t\r\n', '\f', '\u00a0', ']', '}', ' }', ',', '"');
    fc.assert(
      fc.property(fc.json(), fc.nat(), ends, (json, cut, end) => {
        expectAsParsed(json + end);
        expectAsParsed(json.slice(0, cut % (json.length + 1)) + end);
      }),
    );
  });

  test.each(['', '{', '[', '[ ', '{]', '[}', ']', '[][', '{}{', ' {}', '"[', '[1]\n', '{"a":[[[[}', '[[[[]'])(
    'of %j is what JSON.parse makes of it',
    expectAsParsed,
  );
});
