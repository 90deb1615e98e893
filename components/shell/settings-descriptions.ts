/** The description of each settings page, for the page of all settings and the palette. */
export const SETTINGS_DESCRIPTIONS: Readonly<Record<string, string>> = {
  '/settings/members': 'Who works in this workspace, with which role, and invitations.',
  '/settings/projects': 'Separate places for workflows, runs and connections, with members of their own.',
  '/settings/model-keys': 'Your own keys for the language models that agents and AI steps use.',
  '/settings/chat': 'What the chat may do, and how much people may use it.',
  '/settings/audit-log': 'Who changed what, and when.',
  '/settings/profile': 'Your name, password and signed-in devices.',
  '/settings/notifications': 'Which events you hear about, and where.',
  '/settings/api-keys': 'Keys for programs that call Baton, each with its own scopes.',
  '/settings/api-reference': 'Every operation of the REST API, with its fields and examples.',
};
