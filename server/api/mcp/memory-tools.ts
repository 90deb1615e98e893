import { z } from 'zod';
import { AppError } from '../../platform/errors.ts';
import { hasScope } from '../invoke.ts';
import { argumentsSchema } from './operation-tools.ts';
import type { PlatformTool } from './platform-tool.ts';

const tools: readonly [name: string, title: string][] = [
  ['memory_search', 'Search the memory'],
  ['memory_get_episode', 'Read an episode'],
  ['memory_get_continuation', 'Read how an episode went on'],
  ['memory_propose_items', 'Propose items to remember'],
  ['memory_confirm_item', 'Confirm a proposed item'],
];

/** The memory tools of a deployment without a memory kernel: there, and saying so (interface.md, "Memory routes need memory kernel configuration"). */
export function memoryTools(): PlatformTool[] {
  return tools.map(([name, title]) => ({
    group: 'memory',
    risk: false,
    definition: {
      name,
      title,
      description: 'Needs a memory kernel, which this deployment has not configured: every call says so.',
      inputSchema: argumentsSchema(z.looseObject({})),
      annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    },
    usable: principal => hasScope(principal, 'memory:use'),
    async call() {
      throw new AppError(404, 'memory_not_configured', 'Memory is not configured on this deployment.');
    },
  }));
}
