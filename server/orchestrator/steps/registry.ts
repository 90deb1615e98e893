import type { LuaPool } from '../languages/lua/index.ts';
import type { LiveText } from '../ports/live-text.ts';
import type { StepTypes } from '../ports/step-type.ts';
import { agent } from './agent/agent.ts';
import { agentApproval } from './agent/approval.ts';
import { agentCompaction } from './agent/compaction.ts';
import type { Conversations } from './agent/conversations.ts';
import type { AgentGrants } from './agent/grants.ts';
import type { MemoryRecaller } from './agent/memory-recaller.ts';
import type { MemoryTools } from './agent/memory-tools.ts';
import type { PlatformTools } from './agent/platform-tools.ts';
import type { RunAuthority } from './agent/run-authority.ts';
import type { RunTools } from './agent/run-tools.ts';
import type { AgentSource } from './agent/source.ts';
import { agentTool } from './agent/tool.ts';
import type { ApprovalSettings } from './agent/tool-plan.ts';
import type { AgentTools } from './agent/tools.ts';
import { agentTurn } from './agent/turn.ts';
import type { TurnCaller } from './agent/turn-caller.ts';
import { callWorkflow } from './call-workflow/call-workflow.ts';
import type { WorkflowCaller } from './call-workflow/workflow-caller.ts';
import { condition } from './condition/condition.ts';
import { forEach } from './for-each/for-each.ts';
import { httpRequest } from './http-request/http-request.ts';
import type { HttpRequester } from './http-request/http-requester.ts';
import { humanTask } from './human-task/human-task.ts';
import { llmCall } from './llm-call/llm-call.ts';
import type { ModelCaller } from './llm-call/model-caller.ts';
import { luaScript } from './lua-script/lua-script.ts';
import { mcpCall } from './mcp-call/mcp-call.ts';
import type { ToolCaller } from './mcp-call/tool-caller.ts';
import { memoryExtract } from './memory-extract/memory-extract.ts';
import type { MemoryExtractor } from './memory-extract/memory-extractor.ts';
import { standIn } from './stand-in/stand-in.ts';
import { wait } from './wait/wait.ts';

/**
 * Returns all step types. ARCHITECTURE.md ("A new step type") lists the files that a new type touches. The caller
 * closes the pool.
 */
export function createStepTypes(services: {
  luaPool: LuaPool;
  tools?: ToolCaller;
  models?: ModelCaller;
  requester?: HttpRequester;
  workflows?: WorkflowCaller;
  turns?: TurnCaller;
  agentTools?: AgentTools;
  platform?: PlatformTools;
  authority?: RunAuthority;
  approvals?: ApprovalSettings;
  agents?: AgentSource;
  grants?: AgentGrants;
  conversations?: Conversations;
  liveText?: LiveText;
  extractor?: MemoryExtractor;
  recaller?: MemoryRecaller;
  memoryTools?: MemoryTools;
  runTools?: RunTools;
}): StepTypes {
  const { luaPool, tools, models, requester, workflows, extractor } = services;
  const ofAgents = [
    agent(services),
    agentTurn(services),
    agentTool(services),
    agentApproval,
    agentCompaction(services),
  ];
  const types = [
    luaScript(luaPool),
    condition(luaPool),
    humanTask,
    wait,
    forEach(luaPool),
    callWorkflow(workflows),
    mcpCall(tools),
    httpRequest(requester),
    llmCall(models),
    ...ofAgents,
    memoryExtract(extractor),
    standIn,
  ];
  return new Map(types.map(type => [type.type, type]));
}
