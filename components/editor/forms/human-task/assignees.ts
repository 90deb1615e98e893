/** A candidate for an assignee: a role, the person for whom the run acts, or a person who may answer. */
export type Candidate = { value: string; label: string; hint: string };
export type Person = { email: string; name: string | null; tenant_admin: boolean; role: string | null };

const ROLES: readonly Candidate[] = [
  { value: 'project_contributor', label: 'All contributors', hint: 'Everyone who may answer in this project' },
  { value: 'tenant_admin', label: 'Administrators', hint: 'Of the workspace' },
  { value: 'run_starter', label: 'Whoever started the run', hint: 'Or for whom it was started' },
];

/** Returns the possible assignees of a task: the roles, then the people who may answer. */
export function candidatesOf(people: readonly Person[]): Candidate[] {
  const able = people.filter(({ role, tenant_admin }) => tenant_admin || role === 'project_contributor');
  return [...ROLES, ...able.map(({ email, name }) => ({ value: email, label: name || email, hint: email }))];
}

/** Returns the unchosen candidates that match a search. */
export function offerCandidates(
  candidates: readonly Candidate[],
  chosen: readonly string[],
  search: string,
): Candidate[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const taken = new Set(chosen.map(value => value.toLowerCase()));
  return candidates.filter(({ value, label, hint }) => {
    const text = `${label} ${hint}`.toLowerCase();
    return !taken.has(value.toLowerCase()) && words.every(word => text.includes(word));
  });
}

/** Returns whether a typed text is an assignee: an email address, or a template that gives one. */
export function isAssignee(text: string): boolean {
  return /^[^\s@]+@[^\s@]+$/.test(text) || (text.startsWith('{{') && text.endsWith('}}'));
}
