import type { Template } from './template.ts';

const summary = `local done, open = 0, {}
for i, answer in ipairs(steps.checklist.result.results) do
  if answer.approved then done = done + 1 else open[#open + 1] = input.tasks[i] end
end
return { done = done, not_done = json.array(open) }`;

export const onboardingChecklist: Template = {
  slug: 'onboarding-checklist',
  name: 'Onboarding checklist',
  sentence: 'Gives the team one task for each point of a new colleague’s checklist, and collects the answers.',
  needs: [],
  sampleInput: { person: 'Grace Hopper', tasks: ['Order a laptop', 'Create the accounts', 'Plan the first week'] },
  graph: {
    input_schema: {
      type: 'object',
      required: ['person', 'tasks'],
      properties: {
        person: { type: 'string', minLength: 1, description: 'Who joins.' },
        tasks: {
          type: 'array',
          minItems: 1,
          maxItems: 100,
          items: { type: 'string' },
          description: 'What is to be done.',
        },
      },
    },
    steps: [
      {
        id: 'checklist',
        type: 'for_each',
        name: 'For each point',
        items: '{{input.tasks}}',
        concurrency: 100,
        steps: [
          {
            id: 'do',
            type: 'human_task',
            name: 'Do it',
            instructions: '**{{item}}** for {{input.person}}\n\nApprove when it is done, reject if it is not needed.',
            form: { type: 'object', properties: { note: { type: 'string', title: 'Note' } } },
          },
        ],
      },
      { id: 'summary', type: 'lua_script', name: 'Count what is done', script: summary, depends_on: ['checklist'] },
    ],
    output: '{{steps.summary.result}}',
  },
};
