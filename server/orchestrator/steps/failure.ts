import { CelError, CelSyntaxError } from '../languages/cel/index.ts';
import { RenderedTooLarge, TemplateKeyInvalid, TemplateUnresolved } from '../languages/rendering.ts';
import { TemplateSyntaxError } from '../languages/templates.ts';
import type { Outcome } from '../ports/step-type.ts';
import { InvalidStep } from './common-fields.ts';

/** Returns a failure that a retry cannot prevent: the same version and results lead to the same end. */
export function failed(code: string, message: string): Outcome {
  return { kind: 'failed', error: { code, message: message.slice(0, 4_000) }, retryable: false };
}

/**
 * Returns the outcome for an error that a graph's author or input can cause. Any other error is a defect and is thrown
 * again.
 */
export function outcomeOf(error: unknown): Outcome {
  if (error instanceof TemplateUnresolved) return failed('template_unresolved', error.message);
  if (error instanceof TemplateSyntaxError) return failed('template_malformed', error.message);
  if (error instanceof TemplateKeyInvalid) return failed('template_key_invalid', error.message);
  if (error instanceof RenderedTooLarge) return failed('rendered_too_large', error.message);
  if (error instanceof InvalidStep) return failed('invalid_step', error.message);
  if (error instanceof CelError) return failed(error.code, error.message);
  if (error instanceof CelSyntaxError) return failed('expression_malformed', error.message);
  throw error;
}
