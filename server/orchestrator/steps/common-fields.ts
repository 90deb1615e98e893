import { z } from 'zod';
import { MAX_TIMEOUT_S } from '../core/compile.ts';
import { type GraphStep, type JsonMap, templateOf } from '../core/index.ts';
import type { StepFacts } from '../ports/step-declarations.ts';
import type { StepType } from '../ports/step-type.ts';
import { STEP_TYPES } from './descriptions.ts';
import { STEP_FACTS } from './step-facts.ts';

/** The permitted form of a step id (docs/specification/steps.md#step-ids). */
export const STEP_ID = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;
/** Maximum length of the text in any field of a step, including scripts and prompts. */
export const MAX_TEXT_LENGTH = 256 * 1024;
/** Maximum length of the instructions for a person or an agent. */
export const MAX_INSTRUCTIONS_LENGTH = 64 * 1024;

const stepId = z.string().regex(STEP_ID, 'must start with a letter or _ and have at most 64 letters, digits, _ and -');

const typesThat = (has: (facts: StepFacts) => boolean): string[] =>
  Object.entries(STEP_FACTS).flatMap(([type, facts]) => (has(facts) ? [type] : []));

const joinNames = (names: readonly string[], and = 'and'): string => names.join(', ').replace(/, (?=\w+$)/, ` ${and} `);

/** Returns the default timeouts of the types, such as “60 for lua_script and condition”. */
function timeouts(): string {
  const timeoutOf = ({ documentedTimeoutS, defaultTimeoutS }: StepFacts) => documentedTimeoutS ?? defaultTimeoutS;
  const given = new Set(Object.values(STEP_FACTS).map(timeoutOf));
  return [...given]
    .flatMap(s =>
      s === null ? [] : [`${s.toLocaleString('en')} for ${joinNames(typesThat(facts => timeoutOf(facts) === s))}`],
    )
    .join(', ');
}

/** The fields of every step type (docs/specification/steps.md#common-fields). */
export const commonFields = {
  id: stepId.meta({ description: 'Unique within the graph' }),
  type: z.string().meta({ description: joinNames(Object.keys(STEP_TYPES), 'or') }),
  name: z.string().max(200).optional().meta({ description: 'For people; default: the id' }),
  timeout_s: z
    .number()
    .int()
    .min(1)
    .max(MAX_TIMEOUT_S)
    .optional()
    .meta({
      description: `Seconds. Default ${timeouts()}, none for others`,
    }),
  retry_count: z
    .number()
    .int()
    .min(0)
    .max(10)
    .optional()
    .meta({ description: `Default 0; not for ${joinNames(typesThat(({ retries }) => !retries))}` }),
  retry_delay_s: z
    .number()
    .min(0)
    .max(60)
    .optional()
    .meta({ description: 'Seconds before the first retry, doubled at each, at most 60, with jitter. Default 1' }),
  depends_on: z.array(z.string()).max(2_000).optional().meta({ description: 'Ids of the steps that must end first' }),
  disabled: z.boolean().optional().meta({ description: 'Skipped with reason step_disabled; counts as done' }),
  on_error: z.enum(['fail', 'continue']).optional().meta({
    description: 'Default fail: the run fails with the step. continue: dependents run, and read steps.<id>.error',
  }),
  gated: z.boolean().optional().meta({ description: 'Runs only if trigger_steps names it' }),
  overridable: z
    .array(z.string().max(80))
    .max(50)
    .optional()
    .meta({ description: 'Data fields that a start may override with the scope workflow:run alone. Default: none' }),
  position: z.strictObject({ x: z.number(), y: z.number() }).optional().meta({ description: 'Editor only' }),
} as const;

/** The common fields as a schema, for OpenAPI and the editor. */
export const CommonStepFields = z.object(commonFields);

export const commonFieldNames: ReadonlySet<string> = new Set(Object.keys(commonFields));

/** Common fields that hold data; an author may open them to overrides. */
const COMMON_DATA_FIELDS: readonly string[] = ['name', 'timeout_s', 'retry_count', 'retry_delay_s'];

/** Returns the fields that a step of this type may list in `overridable`. */
export function openableFields({ dataFields, approvalFields = [], retries }: StepType): string[] {
  const common = COMMON_DATA_FIELDS.filter(name => retries || !name.startsWith('retry_'));
  return [...common, ...dataFields].filter(name => !approvalFields.includes(name));
}

/** Returns the fields of a step other than the common ones. */
export function ownFields(step: GraphStep): JsonMap {
  const own: [string, JsonMap[string]][] = [];
  for (const [name, value] of Object.entries(step)) {
    if (!commonFieldNames.has(name) && value !== undefined) own.push([name, value]);
  }
  return Object.fromEntries(own);
}

/**
 * The error for a step whose fields are invalid for its type although its version was published: a template rendered an
 * invalid value, or the run is older than the check of overrides at the start.
 */
export class InvalidStep extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'InvalidStep';
  }
}

/**
 * Returns a parser for the fields of a type, which parses each published step object once. All runs of a version share
 * these objects, and so do the items of a loop, so that an attempt costs a look-up and no parse. Throws InvalidStep.
 */
export function fieldReader<S extends z.ZodObject>(schema: S): (step: GraphStep) => z.output<S> {
  const known = new WeakMap<GraphStep, z.output<S>>();
  return given => {
    const found = known.get(given);
    if (found) return found;
    const step = templateOf(given);
    const shared = known.get(step);
    if (shared) return shared;
    const parsed = schema.safeParse(ownFields(step));
    if (!parsed.success) {
      const [issue] = parsed.error.issues;
      throw new InvalidStep(`${issue?.path.join('.') || 'the step'}: ${issue?.message ?? 'invalid'}`);
    }
    known.set(step, parsed.data);
    return parsed.data;
  };
}

/**
 * Returns the message for a type that drafts may contain but that cannot be published yet. It is the same everywhere.
 */
export function unavailableMessage(type: StepType['type'], needs: string): string {
  return `${type} steps cannot be published yet: ${needs}`;
}
