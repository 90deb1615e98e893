import type { Template } from './template.ts';

const answer = `local second = steps.escalate and steps.escalate.result
local taken = second or steps.take.result
return {
  taken = taken.approved,
  by = taken.completed_by,
  escalated = second ~= nil,
  note = taken.note
}`;

const form = { type: 'object', properties: { note: { type: 'string', title: 'Note' } } };

export const incidentEscalation: Template = {
  slug: 'incident-escalation',
  name: 'Incident escalation',
  sentence: 'Asks the team to take an incident, and an administrator if no one has after 15 minutes.',
  needs: [],
  sampleInput: { service: 'Checkout', summary: 'Payments fail with a timeout.' },
  graph: {
    input_schema: {
      type: 'object',
      required: ['service', 'summary'],
      properties: {
        service: { type: 'string', minLength: 1, description: 'The service that has the problem.' },
        summary: { type: 'string', description: 'What is wrong.' },
      },
    },
    steps: [
      {
        id: 'take',
        type: 'human_task',
        name: 'Take the incident',
        instructions: '**{{input.service}}**: {{input.summary}}\n\nApprove to take it, reject to pass it on.',
        form,
        timeout_s: 900,
        on_timeout: 'reject',
      },
      {
        id: 'is_taken',
        type: 'condition',
        name: 'Taken?',
        expression: 'steps.take.result.approved',
        then: [],
        else: ['escalate'],
        depends_on: ['take'],
      },
      {
        id: 'escalate',
        type: 'human_task',
        name: 'Take the escalated incident',
        instructions: '**{{input.service}}**: {{input.summary}}\n\nNobody on the team has taken it.',
        form,
        assignees: ['tenant_admin'],
        depends_on: ['is_taken'],
      },
      {
        id: 'answer',
        type: 'lua_script',
        name: 'Who has taken it',
        script: answer,
        depends_on: ['take', 'is_taken', 'escalate'],
      },
    ],
    output: '{{steps.answer.result}}',
  },
};
