import { z } from 'zod';
import type { Context } from '../../operation/context.ts';
import type { JsonMap } from '../../orchestrator/core/index.ts';
import type { StepHelp } from '../../orchestrator/ports/step-declarations.ts';
import type { StepType } from '../../orchestrator/ports/step-type.ts';
import { CommonStepFields } from '../../orchestrator/steps/common-fields.ts';
import { STEP_HELP } from '../../orchestrator/steps/step-help.ts';
import { notFound } from '../../platform/errors.ts';
import type { StepTypesInput, StepTypesOutput } from './schemas.ts';

type Output = z.input<typeof StepTypesOutput>;
const helpOf: ReadonlyMap<string, StepHelp> = new Map(Object.entries(STEP_HELP));

/**
 * GET /v1/autopilot/step-types: describes the step types with the texts of the editor, so that an assistant need not know all schemas in
 * advance. Throws AppError 404 for a type that no draft can have.
 */
export async function describeStepTypes(
  { services }: Context,
  { type }: z.output<typeof StepTypesInput>,
): Promise<Output> {
  const known = [...services.stepTypes.values()].flatMap(each => {
    const help = helpOf.get(each.type);
    return help === undefined ? [] : [{ type: each, help }];
  });
  if (type === undefined) return { step_types: known.map(({ type, help }) => toLine(type, help)) };
  const found = known.find(each => each.type.type === type);
  if (found === undefined) throw notFound('Step type');
  const { facts, example } = found.help;
  const fields = schemaOf(found.type.fields);
  const full = { facts: [...facts], fields, common_fields: schemaOf(CommonStepFields), example };
  return { step_types: [{ ...toLine(found.type, found.help), ...full }] } as Output;
}

const toLine = ({ type, label, available }: StepType, { what, result }: StepHelp) => ({
  type,
  label,
  what,
  result,
  available: available === true,
});

function schemaOf(fields: z.ZodObject): JsonMap {
  const { $schema: _, ...schema } = z.toJSONSchema(fields, { io: 'input', unrepresentable: 'any' });
  return schema as JsonMap;
}
