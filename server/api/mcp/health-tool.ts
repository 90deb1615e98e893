import { readyz } from '../health.ts';
import { NoInput } from '../registry.ts';
import { argumentsSchema } from './operation-tools.ts';
import type { McpOptions, PlatformTool } from './platform-tool.ts';

/** `health_summary`: the answer of /readyz, and who the caller is. */
export function healthTool({ services }: McpOptions): PlatformTool {
  const page = readyz(services);
  return {
    group: 'core',
    risk: false,
    definition: {
      name: 'health_summary',
      title: 'Get the health of the service, and the identity of this token',
      description:
        'The state of the database and the orchestrator, and the tenant, project, role and scopes of the token.',
      inputSchema: argumentsSchema(NoInput),
      annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    },
    usable: () => true,
    async call({ principal }) {
      const { body } = await page.render();
      return {
        service: JSON.parse(body),
        tenant_id: principal.tenantId,
        project_id: principal.projectId,
        user: principal.email,
        role: principal.role,
        scopes: principal.credential.kind === 'pat' ? principal.credential.scopes : [],
      };
    },
  };
}
