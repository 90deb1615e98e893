/** The dialogs of the workflow menu, in one file because they are loaded together and share most of their code. */
export { ArchiveWorkflow } from '../../workflows/archive-workflow.tsx';
export { DescriptionDialog } from './description-dialog.tsx';
