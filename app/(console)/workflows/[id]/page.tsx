import type { Metadata } from 'next';
import { container } from '@/app/container.ts';
import type { FieldsSchema, StepTypeForm } from '@/components/editor/step-fields.ts';
import { WorkflowPage } from '@/components/editor/workflow-page.tsx';

export const metadata: Metadata = { title: 'Workflow' };

/**
 * Returns the forms of the step types, generated from the schemas with which the service checks steps: a new type needs
 * no form of its own.
 */
function stepTypeForms(): StepTypeForm[] {
  const types = [...container().services.stepTypes.values()].filter(({ internal }) => !internal);
  return types.map(({ type, fields, retries, available, defaultTimeoutS }) => {
    const { properties, required } = fields.toJSONSchema({ io: 'input', unrepresentable: 'any' });
    return {
      type,
      schema: { properties, required } as FieldsSchema,
      retries,
      unavailable: available === true ? null : available.message,
      defaultTimeoutS,
    };
  });
}

export default async function Page({ params }: { params: Promise<{ id: string }> }) {
  const { id } = await params;
  return <WorkflowPage id={id} stepTypes={stepTypeForms()} />;
}
