import { z } from 'zod';
import { unavailableMessage } from './common-fields.ts';
import { failed } from './failure.ts';
import type { StepType } from './step-type.ts';

const message = unavailableMessage('mcp_call', 'this server has no tool servers configured');

/** `mcp_call`: calls a tool of an MCP instance. Drafts may hold it. */
export const mcpCall: StepType = {
  type: 'mcp_call',
  label: 'MCP tool',
  fields: z.strictObject({
    tool_name: z.string().min(1).max(200),
    tool_args: z.record(z.string(), z.json()).optional(),
    instance_id: z.string().min(1).max(200).meta({ description: 'The MCP instance and with it the credentials' }),
  }),
  available: { message },
  defaultTimeoutS: 300,
  retries: true,
  rawFields: [],
  check: () => [],
  execute: async () => failed('step_type_unavailable', message),
};
