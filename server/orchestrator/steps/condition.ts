import { z } from 'zod';
import { CelSyntaxError, expression, LONGEST_EXPRESSION, typeName } from './cel/index.ts';
import { fieldReader } from './common-fields.ts';
import { failed, outcomeOf } from './failure.ts';
import { stepsInTemplates } from './reads.ts';
import { Rendering } from './rendering.ts';
import type { Attempt, Outcome, StepProblem, StepType } from './step-type.ts';

const fields = z.strictObject({
  expression: z.string().min(1).max(LONGEST_EXPRESSION).meta({
    description:
      'CEL over input and steps; true or false. Numbers are of one kind, as in JSON: 1 == 1.0 and 7 / 2 is 3.5.',
  }),
  mode: z.enum(['branch', 'validate']).optional().meta({ description: 'Default branch' }),
  then: z.array(z.string()).optional().meta({ description: 'Dependents that run where the expression is true' }),
  else: z.array(z.string()).optional().meta({ description: 'Dependents that run where the expression is false' }),
  message: z.string().max(4_000).optional().meta({ description: 'What a false validation says; may hold templates' }),
});
const read = fieldReader(fields);

function evaluate(attempt: Attempt): Outcome {
  const step = read(attempt.step);
  const value = expression(step.expression).evaluate(attempt);
  if (typeof value !== 'boolean') {
    return failed(
      'expression_not_boolean',
      `the expression must be true or false, but it is a value of type ${typeName(value)}`,
    );
  }
  if (step.mode === 'validate' && !value) {
    const { message = 'the condition is not met' } = step;
    return failed('condition_not_met', new Rendering(attempt).text('message', message));
  }
  return { kind: 'completed', result: { value, branch: value ? 'then' : 'else' } };
}

function check(step: Parameters<StepType['check']>[0]): StepProblem[] {
  const text = step.expression;
  if (typeof text !== 'string') return [];
  const problem = (code: string, message: string): StepProblem[] => [{ path: 'expression', code, message }];
  if (/\{\{\s*(input|steps)\b/.test(text)) {
    return problem(
      'template_in_expression',
      'an expression reads input and steps directly: write input.x, not {{input.x}}',
    );
  }
  try {
    expression(text);
    return [];
  } catch (error) {
    if (!(error instanceof CelSyntaxError)) throw error;
    return problem('expression_malformed', error.message);
  }
}

/** `condition`: branches on a CEL expression, or fails the step where it is false (decisions.md, Steps). */
export const condition: StepType = {
  type: 'condition',
  label: 'Condition',
  fields,
  available: true,
  defaultTimeoutS: 60,
  retries: true,
  rawFields: ['expression'],
  reads: step => [...expression(read(step).expression).steps, ...stepsInTemplates({ ...step, expression: '' })],
  check,
  async execute(attempt) {
    try {
      return evaluate(attempt);
    } catch (error) {
      return outcomeOf(error);
    }
  },
};
