import { operation, streamOperation } from '../../operation/operation.ts';
import { SentOutput, StreamChunk } from '../chat/schemas.ts';
import { EDIT_SCOPE } from '../runs/start/override-rights.ts';
import { startScopes } from '../runs/start/step-scopes.ts';
import { chatWithAutopilot, streamAutopilot } from './agent/chat.ts';
import { findTools } from './find-tools.ts';
import { applyProposal, undoProposal } from './proposals/apply.ts';
import { discardProposal, editProposal, propose } from './proposals/change.ts';
import { getProposal, listProposals } from './proposals/read.ts';
import { countRefusedInput } from './proposals/rounds.ts';
import * as schema from './schemas.ts';
import { describeStepTypes } from './step-types.ts';
import { getTrial } from './trials/read.ts';
import { startLiveTrial, tryProposal } from './trials/start.ts';

const common = { tag: 'Autopilot', mcp: { group: 'chat' } } as const;
const read = { ...common, access: 'project_viewer', scope: 'workflow:read' } as const;
/** The options of operations whose output shows a draft. */
const draft = {
  ...common,
  access: 'project_viewer',
  scope: 'ai:use',
  scopesWhere: [{ scope: 'workflow:read', when: 'always: a proposal shows the draft' }],
} as const;
const write = { ...common, access: 'project_contributor', scope: 'workflow:write' } as const;

const conversation = { tag: 'Autopilot', feature: 'agents', access: 'project_viewer', scope: 'ai:use' } as const;

const conversationOperations = [
  operation({
    ...conversation,
    name: 'autopilot_chat',
    method: 'POST',
    path: '/v1/autopilot/chat',
    status: 202,
    summary: 'Ask Autopilot to build, explain or repair a workflow',
    description: `A run of the built-in agent answers, with the rights of the caller. It reads what the caller may read, proposes changes and tries them; it never applies
or publishes any. The conversation is a thread of \`/v1/chat\`, where its messages are read, stopped and branched. 422 \`model_not_configured\` where no model has a key.`,
    input: schema.AutopilotChatInput,
    output: SentOutput,
    errors: [404, 409, 503],
    startsRun: () => true,
    scopesWhere: [
      {
        scope: 'workflow:read',
        when: 'always: Autopilot reads workflows; what else the token lacks, Autopilot cannot do',
      },
    ],
    mcp: { group: 'chat', hints: { openWorld: true } },
    run: chatWithAutopilot,
  }),
  streamOperation({
    ...conversation,
    name: 'autopilot_stream',
    path: '/v1/autopilot/stream',
    summary: "Stream Autopilot's answer",
    description:
      'The same stream as that of a chat, with a chunk `data-proposal` whenever the answer has made or changed a proposal. 204 where nothing is being written.',
    input: schema.AutopilotStreamInput,
    output: StreamChunk,
    errors: [404, 503],
    headers: ['Last-Event-ID'],
    run: streamAutopilot,
  }),
] as const;

/** The operations on conversations with Autopilot, proposals and trials. */
export const autopilotOperations = [
  ...conversationOperations,
  operation({
    ...read,
    name: 'autopilot_describe_step_types',
    method: 'GET',
    path: '/v1/autopilot/step-types',
    status: 200,
    summary: 'Describe the types of steps, or one of them with its fields and an example',
    input: schema.StepTypesInput,
    output: schema.StepTypesOutput,
    errors: [404],
    run: describeStepTypes,
  }),
  operation({
    ...common,
    access: 'project_viewer',
    scope: 'mcp:read',
    name: 'autopilot_find_tools',
    method: 'GET',
    path: '/v1/autopilot/tools',
    status: 200,
    summary: 'Find tools that steps can call, or describe one of them with its schemas',
    description:
      'The published tools of MCP servers, a line for each. Titles and descriptions are the words of the servers.',
    input: schema.FindToolsInput,
    output: schema.FindToolsOutput,
    run: findTools,
  }),
  operation({
    ...draft,
    name: 'autopilot_propose',
    method: 'POST',
    path: '/v1/autopilot/proposals',
    status: 201,
    summary: 'Propose changes of a workflow, or a new workflow',
    description:
      'The draft of the workflow does not change until the proposal is applied. The edits are those of `workflows_edit`.',
    input: schema.ProposeInput,
    output: schema.ProposalSchema,
    errors: [404, 409],
    refused: countRefusedInput,
    run: propose,
  }),
  operation({
    ...read,
    name: 'autopilot_list_proposals',
    method: 'GET',
    path: '/v1/autopilot/proposals',
    status: 200,
    summary: "List the project's proposals, newest first",
    input: schema.ListProposalsInput,
    output: schema.ListProposalsOutput,
    run: listProposals,
  }),
  operation({
    ...read,
    name: 'autopilot_get_proposal',
    method: 'GET',
    path: '/v1/autopilot/proposals/{id}',
    status: 200,
    summary: 'Read a proposal: what it changes, step by step, and whether that could be published',
    description: '`conflicts` names the fields that the draft and the proposal have changed differently.',
    input: schema.ProposalRef,
    output: schema.ProposalSchema,
    run: getProposal,
  }),
  operation({
    ...draft,
    name: 'autopilot_edit_proposal',
    method: 'POST',
    path: '/v1/autopilot/proposals/{id}/edits',
    status: 200,
    summary: 'Apply edits to a proposal: all of them, or none',
    description:
      'The answer has the problems of the result in `validation`, each with a way out. After six answers in succession that leave errors or refuse an edit the proposal has the status `needs_input`, and takes further edits once a person has answered.',
    input: schema.EditProposalInput,
    output: schema.ProposalSchema,
    errors: [409],
    refused: countRefusedInput,
    run: editProposal,
  }),
  operation({
    ...draft,
    name: 'autopilot_try_proposal',
    startsRun: () => true,
    method: 'POST',
    path: '/v1/autopilot/proposals/{id}/trial',
    status: 202,
    summary: 'Try a proposal in a run that writes nothing, sends nothing and asks no one',
    description:
      'Steps that would do so are replaced by stand-ins; scripts, models and tools that only read are executed. The service judges the checks from the log of the run.',
    scopesWhere: [
      ...draft.scopesWhere,
      ...startScopes.filter(({ scope }) => scope !== 'ai:use'),
      { scope: EDIT_SCOPE, when: 'it continues a run' },
    ],
    input: schema.TryProposalInput,
    output: schema.TrialSchema,
    errors: [409, 503],
    headers: ['traceparent'],
    mcp: { ...common.mcp, hints: { openWorld: true } },
    run: tryProposal,
  }),
  operation({
    ...write,
    name: 'autopilot_try_live',
    startsRun: () => true,
    method: 'POST',
    path: '/v1/autopilot/proposals/{id}/live-trial',
    status: 202,
    summary: 'Try a proposal in a run that executes steps for real, within a budget',
    description:
      '`really` names steps that the last trial has replaced: its `stand_ins` say what they would do. They write, send, ask people or start runs. All others are replaced as before. `hosts` names each host to which they may send, and `etag` (or If-Match) the state of the proposal that was reviewed. With `from_run` and `from_step` it continues a run.',
    scopesWhere: [
      { scope: 'workflow:read', when: 'always: a trial shows the draft' },
      { scope: 'workflow:run', when: 'always: it runs for real' },
      ...startScopes,
    ],
    input: schema.TryLiveInput,
    output: schema.TrialSchema,
    errors: [409, 412, 428, 503],
    headers: ['If-Match', 'traceparent'],
    mcp: { ...common.mcp, hints: { openWorld: true, destructive: true } },
    run: startLiveTrial,
  }),
  operation({
    ...read,
    name: 'autopilot_get_trial',
    method: 'GET',
    path: '/v1/autopilot/proposals/{id}/trial',
    status: 200,
    summary: 'Read the last trial of a proposal, with its verdict once the run has ended',
    input: schema.GetTrialInput,
    output: schema.TrialSchema,
    run: getTrial,
  }),
  operation({
    ...write,
    name: 'autopilot_apply_proposal',
    method: 'POST',
    path: '/v1/autopilot/proposals/{id}/apply',
    status: 200,
    summary: 'Apply a proposal, or some of its steps, to the draft',
    description:
      'Changes that others have made to the draft since stay. If they changed the same fields differently, the answer is 409 `proposal_conflict` with both sides, and nothing is written. Nothing is published. The state of the proposal that was reviewed must be named, by `etag` or If-Match.',
    input: schema.ApplyProposalInput,
    output: schema.ChangedWorkflow,
    errors: [409, 412, 428],
    headers: ['If-Match'],
    mcp: { ...common.mcp, hints: { destructive: true } },
    run: applyProposal,
  }),
  operation({
    ...write,
    name: 'autopilot_undo_proposal',
    method: 'POST',
    path: '/v1/autopilot/proposals/{id}/undo',
    status: 200,
    summary: 'Undo an applied proposal, and nothing that was changed since',
    description:
      'If later edits changed the same fields, the answer is 409 `proposal_conflict` with both sides, and nothing is written.',
    input: schema.ProposalRef,
    output: schema.ChangedWorkflow,
    errors: [409, 412],
    headers: ['If-Match'],
    mcp: { ...common.mcp, hints: { destructive: true } },
    run: undoProposal,
  }),
  operation({
    ...draft,
    name: 'autopilot_discard_proposal',
    method: 'POST',
    path: '/v1/autopilot/proposals/{id}/discard',
    status: 200,
    summary: 'Discard a proposal: it can no longer be applied',
    input: schema.ProposalRef,
    output: schema.ProposalSchema,
    errors: [409],
    mcp: { ...common.mcp, hints: { destructive: true, idempotent: true } },
    run: discardProposal,
  }),
] as const;
