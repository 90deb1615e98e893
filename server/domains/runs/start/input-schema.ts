import type { Pool } from 'pg';
import type { JsonMap } from '../../../orchestrator/core/index.ts';
import { validateForm } from '../../../orchestrator/steps/form.ts';
import { invalid } from '../../../platform/errors.ts';
import { findInputSchema } from './input-schema-store.ts';

type VersionScope = { tenantId: string; workflowId: string; version: number };

/** Throws AppError 422 `invalid_input`, with the paths, if the input does not fit the version's `input_schema`. */
export async function requireFittingInput(pool: Pool, version: VersionScope, input: JsonMap): Promise<void> {
  const schema = await findInputSchema(pool, version);
  if (schema === null) return;
  const details = validateForm(schema, input, 'input');
  if (details.length > 0) {
    throw invalid('The input does not fit the input schema of the workflow.', details, 'invalid_input');
  }
}
