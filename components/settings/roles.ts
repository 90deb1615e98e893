/** The roles of a project with their labels (docs/specification/authentication.md#roles). */
export const projectRoleOptions = [
  { value: 'project_viewer', label: 'Viewer', hint: 'Reads workflows, runs and tasks' },
  { value: 'project_contributor', label: 'Contributor', hint: 'Edits, runs and answers' },
] as const;

export type ProjectRole = (typeof projectRoleOptions)[number]['value'];

export function roleLabel(role: ProjectRole | null): string {
  return projectRoleOptions.find(option => option.value === role)?.label ?? 'No role here';
}
