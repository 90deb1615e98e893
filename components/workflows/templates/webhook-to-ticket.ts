import type { Template } from './template.ts';

export const webhookToTicket: Template = {
  slug: 'webhook-to-ticket',
  name: 'Webhook to ticket',
  sentence: 'Creates a ticket in your tracker for every issue that is opened on GitHub.',
  needs: [
    { kind: 'outside', label: 'a webhook with the preset GitHub; its fixed payload has the ticket_url' },
    { kind: 'outside', label: 'a tracker whose API accepts {title, text, link}' },
  ],
  sampleInput: {
    ticket_url: 'https://tracker.example.com/tickets',
    action: 'opened',
    issue: { title: 'The export is empty', body: 'Since today.', html_url: 'https://github.com/acme/shop/issues/7' },
  },
  graph: {
    input_schema: {
      type: 'object',
      required: ['ticket_url', 'action', 'issue'],
      properties: {
        ticket_url: { type: 'string', minLength: 1, description: 'Where tickets are created.' },
        action: { type: 'string', description: 'What happened to the issue.' },
        issue: {
          type: 'object',
          required: ['title', 'html_url'],
          description: 'The issue, as GitHub sends it.',
          properties: { title: { type: 'string' }, html_url: { type: 'string' } },
        },
      },
    },
    steps: [
      {
        id: 'is_new',
        type: 'condition',
        name: 'Opened?',
        expression: 'input.action == "opened"',
        then: ['ticket'],
        else: [],
      },
      {
        id: 'ticket',
        type: 'http_request',
        name: 'Create the ticket',
        method: 'POST',
        url: '{{input.ticket_url}}',
        body: {
          title: '{{input.issue.title}}',
          text: '{{input.issue.body ?? ""}}',
          link: '{{input.issue.html_url}}',
        },
        retry_count: 5,
        depends_on: ['is_new'],
      },
    ],
    output: { ticket: '{{steps.ticket.result.body ?? null}}' },
  },
};
