import type { StepFacts } from '../../ports/step-declarations.ts';

export const facts: StepFacts = {
  defaultTimeoutS: 300,
  retries: true,
  guide:
    '{tool_name, tool_args?, instance_id}. Find instances with catalog_bff_request GET /v1/mcp/instances, tools with GET /v1/mcp/tools.',
  references: { instances: [{ field: 'instance_id' }] },
};
