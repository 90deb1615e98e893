/** The dialogs of the workflow's menu, in one file: they are loaded together, and share most of their code. */
export { ArchiveWorkflow } from '../../workflows/archive-workflow.tsx';
export { DescriptionDialog } from './description-dialog.tsx';
