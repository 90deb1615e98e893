import type { Template } from './template.ts';

const verdict = `local response, problem = steps.request.result, steps.request.error
return {
  url = item,
  up = problem == nil,
  status = response and response.status or json.null,
  problem = problem and problem.message or json.null
}`;

const collect = `local down = {}
for _, each in ipairs(steps.check.result.results) do
  if not each.up then down[#down + 1] = each end
end
local lines = {}
for i, each in ipairs(down) do lines[i] = "- " .. each.url .. ": " .. each.problem end
return { checked = #steps.check.result.results, down = json.array(down), text = table.concat(lines, "\\n") }`;

export const uptimeCheck: Template = {
  slug: 'uptime-check',
  name: 'Uptime check',
  sentence: 'Requests a list of addresses, ten at a time, and gives a person those that do not answer.',
  needs: [{ kind: 'outside', label: 'a scheduler that starts it every few minutes' }],
  sampleInput: { urls: ['https://example.com/', 'https://example.org/'] },
  graph: {
    input_schema: {
      type: 'object',
      required: ['urls'],
      properties: {
        urls: { type: 'array', minItems: 1, maxItems: 500, items: { type: 'string' }, description: 'What to request.' },
      },
    },
    steps: [
      {
        id: 'check',
        type: 'for_each',
        name: 'For each address',
        items: '{{input.urls}}',
        concurrency: 10,
        steps: [
          {
            id: 'request',
            type: 'http_request',
            name: 'Request it',
            url: '{{item}}',
            timeout_s: 20,
            on_error: 'continue',
          },
          { id: 'verdict', type: 'lua_script', name: 'Does it answer?', script: verdict, depends_on: ['request'] },
        ],
      },
      { id: 'collect', type: 'lua_script', name: 'Collect what is down', script: collect, depends_on: ['check'] },
      {
        id: 'is_down',
        type: 'condition',
        name: 'Anything down?',
        expression: 'size(steps.collect.result.down) > 0',
        then: ['look'],
        else: [],
        depends_on: ['collect'],
      },
      {
        id: 'look',
        type: 'human_task',
        name: 'Look at what is down',
        instructions: 'These addresses do not answer:\n\n{{steps.collect.result.text}}',
        depends_on: ['is_down'],
      },
    ],
    output: { checked: '{{steps.collect.result.checked}}', down: '{{steps.collect.result.down}}' },
  },
};
