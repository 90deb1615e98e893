import type { z } from 'zod';
import type { Context } from '../../../operation/context.ts';
import { type ErrorDetail, invalid } from '../../../platform/errors.ts';
import { storageProblem } from '../../../platform/storable-json.ts';
import { createWorkflow } from '../create.ts';
import { ImportedDocument, type ImportInput, type WorkflowSchema } from '../schemas.ts';
import { readDocumentText } from './parse-document.ts';

/**
 * Creates a draft from a document, given as fields or as text. Throws AppError 422 with the problems of the document.
 */
export async function importWorkflow(
  ctx: Context,
  input: z.output<typeof ImportInput>,
): Promise<z.input<typeof WorkflowSchema>> {
  const { document, ...fields } = input;
  const given = Object.values(fields).some(value => value !== undefined);
  if (document !== undefined && given) {
    throw invalid('Give the document as fields or as text, not both.', [{ path: 'document', message: 'stands alone' }]);
  }
  const value = document === undefined ? fields : await readDocumentText(document, ctx.principal.tenantId);
  // Checked before the schema, which recurses: a value that is nested too deeply must not overflow its stack.
  const problem = storageProblem(value);
  if (problem !== null) throw invalid('The document contains a value that cannot be stored.', [problem]);
  const parsed = ImportedDocument.safeParse(value);
  if (!parsed.success) throw invalid('This is not a workflow document.', details(parsed.error));
  const { baton: _, kind: __, ...workflow } = parsed.data;
  return createWorkflow(ctx, workflow);
}

function details(error: z.ZodError): ErrorDetail[] {
  return error.issues.slice(0, 50).map(issue => ({ path: issue.path.map(String).join('.'), message: issue.message }));
}
